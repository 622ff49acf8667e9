const THEME = "studio.theme";

/** The stored theme: "light", "dark", or "" for the system's setting. */
export function keptTheme(): string {
  return localStorage.getItem(THEME) ?? "";
}

/** Applies a theme and stores the choice. */
export function keepTheme(theme: string): void {
  document.documentElement.dataset.theme = theme;
  if (theme === "") localStorage.removeItem(THEME);
  else localStorage.setItem(THEME, theme);
}
