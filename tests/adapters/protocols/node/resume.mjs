// The AI SDK's own transport: asks one server, goes away in the middle, and takes the answer up again at another one.
// Arguments: the package, the address to ask, the address to resume at, the conversation.
// Prints the text of the beginning, whether there is a stream to resume, the parts of the message that it makes, and,
// once it has read a line, what there is to resume then.
import { createInterface } from "node:readline";

const [name, asked, resumed, chatId] = process.argv.slice(2);
const { DefaultChatTransport, readUIMessageStream } = await import(name);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

const messages = [{ id: "1", role: "user", parts: [{ type: "text", text: "Hi" }] }];
const leaving = new AbortController();
const first = await new DefaultChatTransport({ api: asked }).sendMessages({
  trigger: "submit-message", chatId, messages, abortSignal: leaving.signal,
});
let beginning = "";
for await (const chunk of first) {
  if (chunk.type === "text-delta") beginning += chunk.delta;
  if (beginning.includes("two")) break;
}
leaving.abort();
console.log(JSON.stringify(beginning));

const again = new DefaultChatTransport({ api: resumed });
const stream = await again.reconnectToStream({ chatId });
console.log(JSON.stringify(stream !== null));
let message;
for await (message of readUIMessageStream({ stream }));
console.log(JSON.stringify(message.parts));
await lines.next();
console.log(JSON.stringify(await again.reconnectToStream({ chatId })));
process.exit(0);
