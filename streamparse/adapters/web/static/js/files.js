/**
 * Saves a text as a file.
 *
 * In: a name, a text. Out: what the browser does with a download.
 */

export function save(name, text, type = "application/json") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** A file's name for a title. */
export function fileName(title) {
  const plain = title.normalize("NFKD").replace(/[^\w]+/g, "-").replace(/^-+|-+$/g, "").toLowerCase();
  return `${plain.slice(0, 60) || "generation"}.json`;
}
