// OpenAI's package for Node, without any framework.

import OpenAI from "openai";

import { SCHEMA, STEPS, TOOL, called, run } from "./program.js";

const clientOf = (job) => new OpenAI({ baseURL: job.url, apiKey: job.key, maxRetries: 0 });

async function ask(job, outcome, messages, options) {
  const client = clientOf(job);
  const request = { model: job.model, messages, ...options };
  let answer;
  if (job.stream) {
    const stream = client.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
    // The helper keeps only the last piece of what isn't OpenAI's own.
    const thoughts = [];
    stream.on("chunk", (chunk) => thoughts.push(chunk.choices[0]?.delta.reasoning_content ?? ""));
    answer = await stream.finalChatCompletion();
    answer.choices[0].message.reasoning_content = thoughts.join("") || null;
  } else {
    answer = await client.chat.completions.create(request);
  }
  outcome.usage = answer.usage?.total_tokens ?? null;
  outcome.finish = answer.choices[0].finish_reason;
  return answer.choices[0].message;
}

async function chat(job, outcome) {
  const options = { tools: [TOOL], ...job.options };
  const message = await ask(job, outcome, [{ role: "user", content: job.question }], options);
  outcome.content = message.content;
  outcome.reasoning = message.reasoning_content ?? null;
  for (const call of message.tool_calls ?? []) called(outcome, call.function.name, call.function.arguments);
}

// The package's own loop.
async function agent(job, outcome) {
  const client = clientOf(job);
  const get_weather = {
    type: "function",
    function: {
      ...TOOL.function,
      parse: JSON.parse,
      function: (given) => {
        outcome.executed.push(given);
        return job.result;
      },
    },
  };
  const runner = client.chat.completions.runTools(
    { model: job.model, messages: [{ role: "user", content: job.question }], tools: [get_weather], stream: job.stream },
    { maxChatCompletions: STEPS },
  );
  outcome.content = await runner.finalContent();
}

async function by_schema(job, outcome) {
  const response_format = { type: "json_schema", json_schema: { name: "WeatherRecord", schema: SCHEMA, strict: true } };
  const message = await ask(job, outcome, [{ role: "user", content: job.question }], { response_format });
  outcome.content = message.content;
  outcome.data = JSON.parse(message.content);
}

async function models(job, outcome) {
  outcome.models = (await clientOf(job).models.list()).data.map((model) => model.id);
}

async function retrieve(job, outcome) {
  outcome.models = [(await clientOf(job).models.retrieve(job.model)).id];
}

await run("openai", { chat, agent, by_schema, models, retrieve });
