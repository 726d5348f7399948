/**
 * Light or dark: what the system prefers, until somebody chooses.
 *
 * In: `toggleTheme()`. Out: `data-theme` on the root element, and the choice kept in this browser.
 */

const STORED = "streamparse-theme";

export function restoreTheme() {
  const chosen = localStorage.getItem(STORED);
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}

export function toggleTheme() {
  const { dataset } = document.documentElement;
  const dark = dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  dataset.theme = dark ? "light" : "dark";
  localStorage.setItem(STORED, dataset.theme);
}
