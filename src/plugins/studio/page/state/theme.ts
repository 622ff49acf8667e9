const THEME = "studio.theme";

/** The theme that was chosen on this machine: "light", "dark", or "" for that of the system. */
export function keptTheme(): string {
  return localStorage.getItem(THEME) ?? "";
}

/** Shows a theme, and keeps the choice. */
export function keepTheme(theme: string): void {
  document.documentElement.dataset.theme = theme;
  if (theme === "") localStorage.removeItem(THEME);
  else localStorage.setItem(THEME, theme);
}
