import { readTrackingToken, type Secrets, type TrackingTarget } from '@postrider/core'
import type { Link } from '../reading/html-parts.ts'
import type { JudgedLink, LinkStatus } from '../reading/judged-link.ts'

/** Links of this service, at any host and below any path: the token follows the letter. */
const OWN_KINDS: Readonly<Record<string, TrackingTarget['kind']>> = { c: 'click', u: 'unsubscribe' }
const MAX_LINK = 22_000

/**
 * Tells where links lead. The target of a tracked link is sealed in it, so it is read without a click that would be counted. Without the secret key of the
 * service, or of links of another one, the link itself is the target.
 */
export class LinkJudge {
  readonly #find: () => Secrets | undefined
  #secrets: Secrets | undefined

  /** `find` is called until it finds the secrets: the first process of an installation that needs the key creates it. */
  constructor(find: () => Secrets | undefined) {
    this.#find = find
  }

  /** With the status of its target, if that is among these. */
  judge({ url, text }: Link, statuses?: ReadonlyMap<string, LinkStatus>): JudgedLink {
    const { target: own } = this.#own(url) ?? {}
    const isTracked = own?.kind === 'click'
    const target = isTracked ? own.url : url
    return { url, text, target, isTracked, status: statuses?.get(target) }
  }

  targetsOf(links: readonly Link[]): readonly string[] {
    return links.map((link) => this.judge(link).target)
  }

  /** The token of an unsubscribe link of this service; undefined if it is not one of its own. */
  unsubscribeToken(url: string): string | undefined {
    const { token, target } = this.#own(url) ?? {}
    return target?.kind === 'unsubscribe' ? token : undefined
  }

  #own(url: string): { readonly token: string; readonly target: TrackingTarget } | undefined {
    const steps = url.slice(0, MAX_LINK).split('/').slice(3)
    const at = steps.findIndex((step) => Object.hasOwn(OWN_KINDS, step))
    const [letter = '', token = ''] = at === -1 ? [] : steps.slice(at)
    if (token === '') return undefined
    this.#secrets ??= this.#find()
    const target = this.#secrets && readTrackingToken(this.#secrets, token)
    return target && target.kind === OWN_KINDS[letter] ? { token, target } : undefined
  }
}
