/**
 * The dialog for an output of one's own: any text, and a template to read it with.
 *
 * In:  what somebody types, or a file that was saved here.
 * Out: `onparse(request)`, which promises the key of a generation; what it is rejected with is shown in the dialog.
 *      `onparsing(key)` once the dialog is closed.
 */

export class PasteDialog {
  onparse = async () => {};
  onparsing = () => {};
  #dialog = document.getElementById("paste-dialog");
  #form = document.getElementById("paste-form");
  #problem = this.#dialog.querySelector(".problem");
  #submit = this.#form.querySelector("[type=submit]");
  #title = null;

  constructor() {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send(() => this.#request());
    });
    this.#form.addEventListener("change", ({ target }) => {
      if (target.name === "kind") this.#showKind();
      if (target.name === "bundled") this.#showHint();
      if (target.name === "file" && target.files[0]) this.#send(() => fileRequest(target.files[0]));
    });
    this.#form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      if (!this.#submit.disabled) this.#form.requestSubmit(this.#submit);
    });
    this.#dialog.querySelector(".dismiss").addEventListener("click", () => this.#dialog.close());
  }

  /** Fills the list of bundled templates: `[{name, description}]`. */
  offer(templates) {
    const { bundled } = this.#form.elements;
    if (bundled.options.length) return;
    bundled.append(...templates.map(({ name }) => new Option(name, name)));
    bundled.value = "qwen3";
    this.descriptions = new Map(templates.map(({ name, description }) => [name, description]));
    this.#showHint();
  }

  /** Opens the dialog, empty as it was left, or with the input of a generation to change it. */
  open(input = null) {
    this.#problem.hidden = true;
    if (input) this.#fill(input);
    if (!this.#dialog.open) this.#dialog.showModal();
    this.#form.elements.text.focus();
  }

  #fill(input) {
    const { elements } = this.#form;
    const bundled = this.descriptions.has(input.template);
    this.#title = input.title;
    elements.text.value = input.pieces.join("");
    elements.kind.value = bundled ? "bundled" : "own";
    if (bundled) elements.bundled.value = input.template;
    else elements.own.value = JSON.stringify(input.response_template, null, 2);
    elements.prefix.value = input.prefix;
    elements.tools.value = input.tools.length ? JSON.stringify(input.tools, null, 2) : "";
    elements.errors.value = input.errors;
    this.#showKind();
    this.#showHint();
  }

  #showKind() {
    for (const part of this.#form.querySelectorAll("[data-kind]")) part.hidden = part.dataset.kind !== this.#form.elements.kind.value;
  }

  #showHint() {
    document.getElementById("bundled-hint").textContent = this.descriptions?.get(this.#form.elements.bundled.value) ?? "";
  }

  #request() {
    const { text, kind, bundled, chat, own, prefix, tools, errors, cut } = this.#form.elements;
    if (text.value === "") throw new Error("Paste the raw output of a model first.");
    return {
      title: this.#title ?? "pasted",
      text: text.value,
      template: { bundled: { name: bundled.value }, chat: { chat: chat.value }, own: { source: own.value } }[kind.value],
      prefix: prefix.value,
      tools: tools.value,
      errors: errors.value,
      cut: cut.value,
    };
  }

  async #send(make) {
    this.#submit.disabled = true;
    this.#problem.hidden = true;
    try {
      const key = await this.onparse(await make());
      this.#title = null;
      this.#dialog.close();
      this.onparsing(key);
    } catch (error) {
      this.#problem.textContent = error.message;
      this.#problem.hidden = false;
      this.#problem.scrollIntoView({ block: "nearest" });
    } finally {
      this.#submit.disabled = false;
      this.#form.elements.file.value = "";
    }
  }
}

async function fileRequest(file) {
  try {
    return { file: JSON.parse(await file.text()) };
  } catch {
    throw new Error(`${file.name} is not JSON.`);
  }
}
