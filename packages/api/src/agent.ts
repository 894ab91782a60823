import { AsyncLocalStorage } from 'node:async_hooks'

const agents = new AsyncLocalStorage<string | null>()

/** Runs a call that an agent makes by a tool (packages/api/src/mcp): the audit log names the program of the agent, unless it is null. */
export function asAgent<T>(agent: string | null, run: () => PromiseLike<T>): Promise<T> {
  // What `app.inject` returns begins when it is awaited.
  return agents.run(agent, async () => await run())
}

/** The program of the agent that makes the present call, or null for other calls. */
export function presentAgent(): string | null {
  return agents.getStore() ?? null
}
