/** Does the work for one client one after another, so that many messages of it delay those of others by one. */
export interface ClientTurns {
  /** Runs `act` after all earlier work for this client; at once if there is no client. */
  inTurn<T>(client: string | undefined, act: () => Promise<T>): Promise<T>
}

export function createClientTurns(): ClientTurns {
  /** The last work of each client that has some. */
  const last = new Map<string, Promise<unknown>>()
  return {
    inTurn(client, act) {
      if (client === undefined) return act()
      const result = (last.get(client) ?? Promise.resolve()).then(act)
      const settled = result
        .catch(() => {})
        .then(() => {
          if (last.get(client) === settled) last.delete(client)
        })
      last.set(client, settled)
      return result
    },
  }
}
