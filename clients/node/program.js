// What every client's program in Node shares; clients/python/program.py says what a job and an outcome are.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

export const STEPS = 5;
const SECONDS = 60;

export const SCHEMA = {
  type: "object",
  properties: {
    city: { type: "string", description: "The city" },
    days: { type: "integer", description: "How many days" },
  },
  required: ["city", "days"],
  additionalProperties: false,
};
export const TOOL = {
  type: "function",
  function: { name: "get_weather", description: "The weather in a city", parameters: SCHEMA },
};

const newOutcome = () => ({
  content: null, reasoning: null, calls: [], invalid: [], executed: [],
  data: null, usage: null, finish: null, models: null, error: null,
});

/** Note a call of a client that leaves the reading of arguments to its user. */
export function called(outcome, name, text) {
  try {
    outcome.calls.push({ name, arguments: JSON.parse(text) });
    return true;
  } catch {
    outcome.invalid.push(text);
    return false;
  }
}

/** Do the jobs that come in, one after the other, until there are no more. */
export async function run(packageName, tasks) {
  const write = process.stdout.write.bind(process.stdout);
  console.log = console.error; // what libraries print must not come among the outcomes
  write(JSON.stringify({ version: versionOf(packageName), tasks: Object.keys(tasks).sort() }) + "\n");
  for await (const line of createInterface({ input: process.stdin })) {
    const job = JSON.parse(line);
    const outcome = newOutcome();
    let timer;
    const late = new Promise((_, fail) => {
      timer = setTimeout(() => fail(new Error(`no end after ${SECONDS} s`)), SECONDS * 1000);
    });
    try {
      await Promise.race([tasks[job.task](job, outcome), late]);
    } catch (error) {
      outcome.error = told(error);
      console.error(error);
    }
    clearTimeout(timer);
    write(JSON.stringify(outcome) + "\n");
  }
}

function versionOf(packageName) {
  const paths = createRequire(import.meta.url).resolve.paths(packageName);
  for (const path of paths) {
    try {
      return createRequire(import.meta.url)(`${path}/${packageName}/package.json`).version;
    } catch {
      // it is in another of the folders
    }
  }
  return "?";
}

/** What a client says of an error, or of the error behind it. */
function told(error) {
  const { name, message } = error;
  let status = null;
  let wait = null;
  for (let cause = error; cause && status === null; cause = cause.cause ?? cause.lastError) {
    status = cause.status ?? cause.statusCode ?? null;
    const headers = cause.headers ?? cause.responseHeaders;
    wait = headers?.get?.("retry-after") ?? headers?.["retry-after"] ?? wait;
  }
  return { type: name, message: String(message).slice(0, 300), status, retry_after: wait };
}
