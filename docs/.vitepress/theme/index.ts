// The default theme without the font it brings: what the reader's system has is used.
import DefaultTheme from "vitepress/theme-without-fonts";
import "./keelson.css";

// biome-ignore lint/style/noDefaultExport: VitePress takes the theme from there
export default DefaultTheme;
