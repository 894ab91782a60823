import type { Flow } from '@postrider/core'
import { flowKey } from './fair-queue.ts'
import type { Site } from './site.ts'

/** A site that has as much of a flow as it may hold; the rest of it stays in the database. */
export interface Backlogged {
  readonly flow: Flow
  readonly site: Site
}

/** The mail that stays in the database because its site has no capacity for its flow. It is claimed by site when capacity is freed. */
export class Backlog {
  readonly #flows = new Map<number, { readonly flow: Flow; readonly sites: Set<Site> }>()
  /** Number of flows by site. */
  readonly #counts = new Map<Site, number>()

  get isEmpty(): boolean {
    return this.#flows.size === 0
  }

  add(flow: Flow, site: Site): void {
    const key = flowKey(flow)
    const own = this.#flows.get(key)
    if (own?.sites.has(site)) return
    this.#counts.set(site, (this.#counts.get(site) ?? 0) + 1)
    if (own) own.sites.add(site)
    else this.#flows.set(key, { flow: { accountId: flow.accountId, class: flow.class }, sites: new Set([site]) })
  }

  remove({ flow, site }: Backlogged): void {
    const key = flowKey(flow)
    const own = this.#flows.get(key)
    if (!own?.sites.delete(site)) return
    if (own.sites.size === 0) this.#flows.delete(key)
    const left = (this.#counts.get(site) ?? 0) - 1
    if (left > 0) this.#counts.set(site, left)
    else this.#counts.delete(site)
  }

  has(site: Site): boolean {
    return this.#counts.has(site)
  }

  /** The recipient domains that are left out when this flow is claimed. */
  domainsOf(flow: Flow): string[] {
    return [...(this.#flows.get(flowKey(flow))?.sites ?? [])].flatMap((site) => [...site.domains])
  }

  /** At most so many that fulfil a condition. They come last the next time. */
  next(count: number, isWanted: (one: Backlogged) => boolean): Backlogged[] {
    const found: Backlogged[] = []
    for (const { flow, sites } of this.#flows.values()) {
      for (const site of sites) if (found.length < count && isWanted({ flow, site })) found.push({ flow, site })
      if (found.length >= count) break
    }
    for (const one of found) {
      this.remove(one)
      this.add(one.flow, one.site)
    }
    return found
  }
}
