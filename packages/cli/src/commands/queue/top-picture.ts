import type { BoundedCount, Core, HourSums, QueueGroup, SlowDestination, WorkerSummary } from '@postrider/core'
import { table, tableOr } from '../../table.ts'
import { heldName, NOT_ASSIGNED } from './queue.ts'
import { duration } from './queue-format.ts'

/** Destinations in a picture. */
const MAX_DESTINATIONS = 15
const MAX_SLOWEST = 5
/** Rates are of the pictures of the last seconds: events are counted in batches, about one a second. */
const WINDOW_MS = 10_000

/** Per second, over `seconds`: accepted recipients, deliveries, and attempts that were deferred. */
interface Rates {
  readonly seconds: number
  readonly accepted: number
  readonly delivered: number
  readonly deferred: number
  readonly bounced: number
}

interface WorkerInPicture extends Pick<WorkerSummary, 'id' | 'host' | 'pid' | 'alive' | 'inFlight' | 'connections'> {
  /** Seconds since its heartbeat was seen to advance; null until it was seen twice. */
  readonly heartbeatAge: number | null
}

/** The figures of `top` at one moment. */
export interface Picture {
  readonly at: Date
  /** The first picture has those of the hour so far. */
  readonly rates: Rates
  /** The largest destinations first. */
  readonly destinations: readonly QueueGroup[]
  /** Destinations beyond these that were found. */
  readonly others: number
  /** Whether the queue was read in part, so that counts that end at their bound (`more`) are estimates, and small destinations are missing. */
  readonly partial: boolean
  /** Those whose latest attempts took longest. */
  readonly slowest: readonly SlowDestination[]
  readonly workers: readonly WorkerInPicture[]
}

interface Sample {
  readonly at: number
  readonly hours: readonly HourSums[]
}

/** Takes pictures of an installation. What only a comparison shows, rates and the age of heartbeats, is known from the second one on. */
export class Camera {
  readonly #core: Core
  #samples: Sample[] = []
  #beats = new Map<number, { readonly beat: string; readonly since: number; readonly advanced: boolean }>()

  constructor(core: Core) {
    this.#core = core
  }

  async take(): Promise<Picture> {
    const { queue, deliveries, reputation, serviceTime } = this.#core
    const [overview, slowest, workers, hours, time] = [
      await queue.overview({ by: 'provider', limit: MAX_DESTINATIONS, glance: true }),
      await queue.slowest(MAX_SLOWEST),
      await deliveries.listWorkers(),
      await reputation.recentSums(),
      await serviceTime.show(),
    ]
    const at = time.now.getTime()
    return {
      at: new Date(at),
      rates: this.#ratesOf({ at, hours }),
      destinations: overview.groups.filter(({ total }) => total.count > 0),
      others: overview.others,
      partial: overview.partial,
      slowest,
      workers: workers.map((worker) => this.#seen(worker, at)),
    }
  }

  #ratesOf(sample: Sample): Rates {
    const [first] = this.#samples
    this.#samples = [...this.#samples.filter((one) => one.at > sample.at - WINDOW_MS), sample]
    const since = first?.at ?? sample.hours[0]?.hour.getTime() ?? sample.at
    const before = new Map(first?.hours.map((one) => [one.hour.getTime(), one]))
    const seconds = Math.max((sample.at - since) / 1000, 1)
    const rate = (name: 'accepted' | 'delivered' | 'deferred' | 'bounced') =>
      sample.hours.reduce((sum, one) => sum + one[name] - (before.get(one.hour.getTime())?.[name] ?? 0), 0) / seconds
    return {
      seconds: Math.round(seconds),
      accepted: rounded(rate('accepted')),
      delivered: rounded(rate('delivered')),
      deferred: rounded(rate('deferred')),
      bounced: rounded(rate('bounced')),
    }
  }

  #seen({ id, host, pid, alive, inFlight, connections, beat }: WorkerSummary, at: number): WorkerInPicture {
    const last = this.#beats.get(id)
    if (last?.beat !== beat) this.#beats.set(id, { beat, since: at, advanced: last !== undefined })
    const { since, advanced } = this.#beats.get(id) ?? { since: at, advanced: false }
    const heartbeatAge = last === undefined && !advanced ? null : Math.round((at - since) / 1000)
    return { id, host, pid, alive, inFlight, connections, heartbeatAge }
  }
}

const rounded = (rate: number): number => Number(rate.toPrecision(3))

/** A picture for people, of which {@link layOut} makes the tables. */
export function pictureText({ at, rates, destinations, others, partial, slowest, workers }: Picture): string {
  const { seconds, accepted, delivered, deferred, bounced } = rates
  const now = at.getTime()
  const more = partial ? 'and smaller ones: the queue was read in part' : others > 0 ? `and ${others} more` : ''
  return [
    `${at.toISOString().slice(11, 19)} UTC  accepted ${accepted}/s  delivered ${delivered}/s  deferred ${deferred}/s  bounced ${bounced}/s  ` +
      `(of the last ${duration(seconds * 1000)})`,
    '',
    tableOr(
      'the queue is empty',
      ['destination', 'oldest', 'due', 'later', 'in flight', 'held', 'waiting'],
      destinations.map((one) => [
        heldName(one.name ?? NOT_ASSIGNED) ?? one.name ?? NOT_ASSIGNED,
        one.oldest === null ? '' : duration(now - one.oldest.getTime()),
        about(one.due),
        about(one.later),
        one.inFlight,
        about(one.held),
        waiting(one),
      ]),
    ),
    ...(more === '' ? [] : [more]),
    '',
    ...(slowest.length === 0
      ? []
      : [
          table(
            ['slowest', 'attempts', 'mean', 'longest'],
            slowest.map(({ place, attempts, mean, longest }) => [place, attempts, inSeconds(mean), inSeconds(longest)]),
          ),
          '',
        ]),
    workers.length === 0
      ? 'no delivery worker is running'
      : table(
          ['worker', 'host', 'process', 'in flight', 'connections', 'heartbeat'],
          workers.map((one) => [one.id, one.host, one.pid, one.inFlight, one.connections, heartbeat(one)]),
        ),
  ].join('\n')
}

const inSeconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`

/** An estimate, such as ~12000, if more than was read. */
const about = ({ count, more }: BoundedCount): string => (more ? `~${Number(count.toPrecision(2))}` : String(count))

/** Such as "1200 rate, 3 pause"; of a pause at which nothing waits yet, "paused". */
function waiting({ parked, limits }: QueueGroup): string {
  const why = Object.entries(parked).filter(([, { count }]) => count > 0)
  if (why.length === 0) return limits?.isPaused ? 'paused' : ''
  return why.map(([reason, count]) => `${about(count)} ${reason}`).join(', ')
}

function heartbeat({ alive, heartbeatAge }: WorkerInPicture): string {
  if (!alive) return 'none: it is dead, or reconnects'
  return heartbeatAge === null ? 'alive' : `${duration(heartbeatAge * 1000)} ago`
}
