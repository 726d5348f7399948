// LangChain in JavaScript: ChatOpenAI, createAgent and structured output.

import { ChatOpenAI } from "@langchain/openai";
import { createAgent, tool } from "langchain";
import { z } from "zod";

import { STEPS, TOOL, run } from "./program.js";

const WeatherRecord = z.object({
  city: z.string().describe("The city"),
  days: z.number().int().describe("How many days"),
});

const modelOf = (job) =>
  new ChatOpenAI({
    model: job.model,
    apiKey: job.key,
    configuration: { baseURL: job.url },
    maxRetries: 0,
    streaming: job.stream,
    streamUsage: true,
  });

function note(message, outcome) {
  outcome.content = message.text;
  outcome.reasoning = message.additional_kwargs.reasoning_content ?? outcome.reasoning;
  outcome.calls.push(...(message.tool_calls ?? []).map((call) => ({ name: call.name, arguments: call.args })));
  outcome.invalid.push(...(message.invalid_tool_calls ?? []).map((call) => call.args));
  outcome.usage = message.usage_metadata?.total_tokens ?? null;
  outcome.finish = message.response_metadata.finish_reason ?? null;
}

async function chat(job, outcome) {
  const model = modelOf(job).bindTools([TOOL], job.options);
  if (!job.stream) {
    note(await model.invoke(job.question), outcome);
    return;
  }
  let whole;
  for await (const chunk of await model.stream(job.question)) whole = whole ? whole.concat(chunk) : chunk;
  note(whole, outcome);
}

async function agent(job, outcome) {
  const get_weather = tool(
    (given) => {
      outcome.executed.push(given);
      return job.result;
    },
    { name: "get_weather", description: "The weather in a city", schema: WeatherRecord },
  );
  const graph = createAgent({ model: modelOf(job), tools: [get_weather] });
  const asked = { messages: [{ role: "user", content: job.question }] };
  const limit = { recursionLimit: 2 * STEPS };
  let state;
  if (job.stream) {
    for await (const [mode, said] of await graph.stream(asked, { ...limit, streamMode: ["messages", "values"] })) {
      if (mode === "values") state = said;
    }
  } else {
    state = await graph.invoke(asked, limit);
  }
  for (const message of state.messages) if (message.getType() === "ai") note(message, outcome);
}

const by_call = (job, outcome) => record(job, outcome, "functionCalling");
const by_schema = (job, outcome) => record(job, outcome, "jsonSchema");

async function record(job, outcome, method) {
  const model = modelOf(job).withStructuredOutput(WeatherRecord, { name: "WeatherRecord", method });
  if (job.stream) {
    for await (const record of await model.stream(job.question)) outcome.data = record;
  } else {
    outcome.data = await model.invoke(job.question);
  }
}

await run("@langchain/openai", { chat, agent, by_call, by_schema });
