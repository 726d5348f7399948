/**
 * Questions to a model on the server's machine, where there is one.
 *
 * In:  the model's name or null (`show`), what somebody asks. Out: `onask(question, think)`, a promise of the answer's key;
 *      what it is rejected with is shown.
 */

export class AskForm {
  onask = async () => {};
  #form = document.getElementById("ask");
  #status = this.#form.querySelector(".asking");

  constructor() {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
  }

  show(name) {
    this.#form.hidden = name === null;
    this.#form.elements.question.placeholder = `Ask ${name}, which runs on this machine and is very small`;
  }

  async #send() {
    const { question, think } = this.#form.elements;
    const button = this.#form.querySelector("button");
    if (question.value.trim() === "") return;
    button.disabled = true;
    const patience = setTimeout(() => (this.#status.textContent = "Loading the model, about 20 seconds …"), 1000);
    try {
      this.#status.textContent = "";
      await this.onask(question.value, think.checked);
      question.value = this.#status.textContent = "";
    } catch ({ message }) {
      this.#status.textContent = message;
    } finally {
      clearTimeout(patience);
      button.disabled = false;
    }
  }
}
