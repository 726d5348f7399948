/**
 * The page: joins the server, the board of generations, the pace, the dialogs and the keys.
 *
 * In:  two sockets of the server that the page came from: /events (as client.js speaks) and /control (control.js).
 * Out: what is on the page. The rest of it is in one module each, beside this one.
 */

import { Connection } from "../client.js";
import { AskForm } from "./ask.js";
import { Board } from "./board.js";
import { Control } from "./control.js";
import { fileName, save } from "./files.js";
import { Keys } from "./keys.js";
import { PaceControls } from "./pace_controls.js";
import { PasteDialog } from "./paste.js";
import { restoreTheme, toggleTheme } from "./theme.js";

restoreTheme();

const server = `ws://${location.host}`;
const news = document.getElementById("news");
const lost = document.getElementById("lost");
const say = (text) => (news.textContent = text);

const connection = new Connection(`${server}/events`, { onstatus: ({ status }) => (lost.hidden = status !== "waiting") });
const control = new Control(`${server}/control`);
const board = new Board(document.getElementById("board"), connection);
const ask = (action, fields) => control.ask(action, fields).catch(({ message }) => say(message));
const pace = new PaceControls(ask);
const paste = new PasteDialog();
const asking = new AskForm();

control.onstate = (state) => {
  pace.show(state.pace);
  board.pause(state.pace.paused);
  paste.offer(state.templates);
  asking.show(state.model);
  board.show(state.generations);
};

board.onnews = say;
paste.onparse = async (request) => (await control.ask("parse", { request })).key;
asking.onask = (question, think) => control.ask("ask", { question, think });
paste.onparsing = (key) => board.present(key);

const actions = {
  async edit({ about: { key } }) {
    paste.open(await control.ask("file", { key }));
  },
  async save({ about: { key, title } }) {
    save(fileName(title), JSON.stringify(await control.ask("file", { key }), null, 1));
    say(`${title}: saved`);
  },
  remove: ({ about: { key } }) => control.ask("remove", { key }),
};
const act = (action, card) => card && actions[action](card).catch(({ message }) => say(message));
board.onaction = act;

const keys = new Keys([
  [[" "], "pause, go on", pace.togglePause],
  [[".", "ArrowRight"], "one piece of each generation", pace.step],
  [["-"], "slower", pace.slower],
  [["+", "="], "faster", pace.faster],
  [["r"], "again, from the start", pace.again],
  [["j"], "next generation", () => board.move(1)],
  [["k"], "generation before", () => board.move(-1)],
  [["e"], "enlarge it", () => board.current?.enlarge()],
  [["Escape"], "make it small again", () => board.shrink()],
  [["s"], "save it as a file", () => act("save", board.current)],
  [["n"], "parse an output of your own", () => paste.open()],
  [["t"], "light or dark", toggleTheme],
  [["?"], "this list", () => keys.open()],
]);

document.getElementById("paste").addEventListener("click", () => paste.open());
document.getElementById("theme").addEventListener("click", toggleTheme);
document.getElementById("keys").addEventListener("click", () => keys.open());
