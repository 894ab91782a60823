/** Milliseconds between two beats, and the deadline of each statement. */
export const LISTEN_INTERVAL = 5000

interface Session {
  unsafe(statement: string): PromiseLike<unknown>
  end(options: { timeout: number }): Promise<void>
}

interface Subscriber {
  readonly onNotify: (payload: string) => void
  readonly onListen: () => void
}

/** Callbacks of the session of {@link Listener}. */
export interface ListenerHooks {
  onnotify(channel: string, payload: string): void
  /** The connection was lost, or could not be established. */
  onclose(): void
}

/** Listens for notifications, on one session for all channels, which is opened when it is first needed. */
export class Listener {
  readonly #open: (hooks: ListenerHooks) => Session
  readonly #channels = new Map<string, Set<Subscriber>>()
  /** Channels that the session does not listen on, or not yet. */
  readonly #lost = new Set<string>()
  #session: Session | undefined
  #hasEnded = false

  constructor(open: (hooks: ListenerHooks) => Session) {
    this.#open = open
  }

  /**
   * Resolves when the session listens; rejects if it cannot. Afterwards a lost connection is replaced. `onListen` is called whenever
   * notifications may have been missed: at first, and on each new connection.
   */
  async listen(
    channel: string,
    onNotify: (payload: string) => void,
    onListen: () => void = () => {},
  ): Promise<{ unlisten: () => Promise<void> }> {
    const subscriber = { onNotify, onListen }
    const subscribers = this.#channels.get(channel) ?? new Set()
    this.#channels.set(channel, subscribers.add(subscriber))
    /** Returns whether it was the last one. */
    const leave = (): boolean =>
      subscribers.delete(subscriber) && subscribers.size === 0 && this.#channels.delete(channel)
    try {
      await this.#run('listen', channel)
    } catch (error) {
      leave()
      throw error
    }
    onListen()
    return {
      unlisten: async () => {
        if (leave()) await this.#run('unlisten', channel)
      },
    }
  }

  /**
   * Called once per {@link LISTEN_INTERVAL}. Without any statement, it would never be noticed that the connection is silent; and a statement
   * that was given up while the connection was being established is repeated.
   */
  beat(): void {
    if (!this.#session || this.#hasEnded) return
    if (this.#lost.size === 0) void this.#run('select 1').catch(() => {})
    for (const channel of this.#lost) void this.#listenAgain(channel)
  }

  async end(): Promise<void> {
    this.#hasEnded = true
    this.#channels.clear()
    await this.#session?.end({ timeout: 0 })
  }

  async #run(command: string, channel?: string): Promise<void> {
    if (this.#hasEnded) throw Object.assign(new Error('the pool has ended'), { code: 'CONNECTION_ENDED' })
    this.#session ??= this.#open({
      onnotify: (channel, payload) => {
        for (const { onNotify } of this.#channels.get(channel) ?? []) onNotify(payload)
      },
      onclose: () => {
        for (const channel of this.#channels.keys()) void this.#listenAgain(channel)
      },
    })
    await this.#session.unsafe(channel === undefined ? command : `${command} "${channel.replaceAll('"', '""')}"`)
  }

  async #listenAgain(channel: string): Promise<void> {
    this.#lost.add(channel)
    try {
      if (this.#channels.has(channel)) await this.#run('listen', channel)
    } catch {
      // Repeated when its connection is closed, or by the next beat.
      return
    }
    this.#lost.delete(channel)
    for (const { onListen } of this.#channels.get(channel) ?? []) onListen()
  }
}
