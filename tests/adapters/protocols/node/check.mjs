// What the protocols' own packages make of streams: one JSON object a line in, {ui, agui}; one a line out, in order.

import { createInterface } from "node:readline";
import { HttpAgent, verifyEvents } from "@ag-ui/client";
import * as ai5 from "ai5";
import * as ai6 from "ai6";
import * as ai7 from "ai";
import { from, lastValueFrom, toArray } from "rxjs";

const write = process.stdout.write.bind(process.stdout);
console.log = console.warn = console.error = () => {}; // what libraries print must not come among the results
const VERSIONS = { ai5, ai6, ai7 };

/** The message that a version of the AI SDK reads, and what it has to say against the chunks. */
async function readByAiSdk({ uiMessageChunkSchema, readUIMessageStream }, chunks) {
  const faults = [];
  const errors = [];
  for (const chunk of chunks) {
    const checked = await uiMessageChunkSchema().validate(chunk);
    if (!checked.success) faults.push(`${JSON.stringify(chunk)}: ${checked.error}`);
  }
  const stream = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let message = null;
  const onError = (error) => errors.push(error.message);
  for await (const snapshot of readUIMessageStream({ stream, onError })) message = snapshot;
  return { faults, errors, id: message?.id ?? null, parts: message?.parts ?? [] };
}

/** The messages that an AG-UI client makes of events, and what it has to say against them. */
async function readByAgUi(events) {
  const faults = [];
  try {
    await lastValueFrom(from(events).pipe(verifyEvents(false), toArray()));
  } catch (error) {
    faults.push(error.message);
  }
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const headers = { "content-type": "text/event-stream" };
  const agent = new HttpAgent({ url: "http://127.0.0.1/", fetch: async () => new Response(body, { headers }) });
  const errors = [];
  try {
    await agent.runAgent({}, { onRunErrorEvent: ({ event }) => void errors.push(event.message) });
  } catch (error) {
    if (errors.length === 0) faults.push(error.message);
  }
  return { faults, errors, messages: agent.messages };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { ui, agui } = JSON.parse(line);
  const found = { agui: await readByAgUi(agui), ui: {} };
  for (const [name, version] of Object.entries(VERSIONS)) found.ui[name] = await readByAiSdk(version, ui);
  write(JSON.stringify(found) + "\n");
}
