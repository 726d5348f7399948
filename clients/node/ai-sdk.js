// The AI SDK with its provider for servers that are compatible with OpenAI's.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Output, generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

import { STEPS, run } from "./program.js";

const WeatherRecord = z.object({
  city: z.string().describe("The city"),
  days: z.number().int().describe("How many days"),
});

const modelOf = (job) =>
  createOpenAICompatible({
    name: "streamparse",
    baseURL: job.url,
    apiKey: job.key,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })(job.model);

async function ask(job, outcome, options) {
  const request = { model: modelOf(job), prompt: job.question, maxRetries: 0, ...options };
  let failure;
  const result = job.stream
    ? streamText({ ...request, onError: ({ error }) => { failure = error; } })
    : await generateText(request);
  if (job.stream) await result.consumeStream();
  if (failure) throw failure;
  outcome.content = await result.text;
  outcome.reasoning = (await result.reasoningText) ?? null;
  outcome.usage = (await result.totalUsage).totalTokens ?? null;
  outcome.finish = await result.finishReason;
  for (const call of (await result.steps).flatMap((step) => step.toolCalls)) {
    if (call.invalid) outcome.invalid.push(JSON.stringify(call.input));
    else outcome.calls.push({ name: call.toolName, arguments: call.input });
  }
  return result;
}

const described = { description: "The weather in a city", inputSchema: WeatherRecord };

async function chat(job, outcome) {
  const { tool_choice, parallel_tool_calls } = job.options;
  const options = {};
  if (tool_choice) options.toolChoice = tool_choice.function ? { type: "tool", toolName: tool_choice.function.name } : tool_choice;
  if (parallel_tool_calls !== undefined) options.providerOptions = { streamparse: { parallel_tool_calls } };
  await ask(job, outcome, { tools: { get_weather: tool(described) }, ...options });
}

async function agent(job, outcome) {
  const get_weather = tool({
    ...described,
    execute: async (given) => {
      outcome.executed.push(given);
      return job.result;
    },
  });
  await ask(job, outcome, { tools: { get_weather }, stopWhen: stepCountIs(STEPS) });
}

async function by_schema(job, outcome) {
  const result = await ask(job, outcome, { output: Output.object({ schema: WeatherRecord, name: "WeatherRecord" }) });
  outcome.data = await result.output;
}

await run("ai", { chat, agent, by_schema });
