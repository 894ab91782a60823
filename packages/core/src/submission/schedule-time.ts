/** Date and time, offset, zone in brackets, further tags (RFC 9557 4.1). Seconds may be left out. */
const FORM =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?:([Zz])|([+-])(\d{2}):?(\d{2}))?((?:\[[^\][]{1,100}\]){0,5})$/
const MAX_LENGTH = 300
const MINUTE = 60_000

/** A time, or what is wrong with the text, to follow the name of a parameter. */
export type ScheduleTime = { readonly at: Date } | { readonly problem: string }

/**
 * Reads a time of ISO 8601 with a time zone of RFC 9557, as `2026-12-24T09:00:00[Europe/Berlin]`; digits alone are Unix seconds. Without offset and zone
 * it is a local time of `zone`. Of a local time that a zone has twice, when its clocks are put back, the first is meant; one that it does not have is a
 * problem, as is an offset that the zone does not have at that time (RFC 9557 3.4).
 */
export function parseScheduleTime(text: string, zone: string): ScheduleTime {
  if (/^\d{1,12}$/.test(text)) return { at: new Date(Number(text) * 1000) }
  const [, year, month, day, hour, minute, second = '0', fraction = '0', utc, sign, hours, minutes, tags = ''] =
    FORM.exec(text.slice(0, MAX_LENGTH)) ?? []
  if (year === undefined)
    return { problem: 'must be a time like 2026-12-24T09:00:00[Europe/Berlin] or 2026-12-24T08:00:00Z' }
  const milliseconds = Math.floor(Number(`0.${fraction}`) * 1000)
  const fields = [Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)] as const
  const local = Date.UTC(...fields, milliseconds)
  // A date out of range would silently become another one, as 31 February does.
  if (
    new Date(local).toISOString().slice(0, 19) !==
    `${year}-${month}-${day}T${hour}:${minute}:${second.padStart(2, '0')}`
  )
    return { problem: 'is a date or time that does not exist' }
  const named = zoneOf(tags)
  if ('problem' in named) return named
  const offset =
    sign === undefined ? undefined : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE
  if (offset !== undefined && Math.abs(offset) >= 24 * 60 * MINUTE)
    return { problem: 'has an offset that does not exist' }
  // Z says that the local offset is unknown, so it agrees with any zone (RFC 9557 2.2).
  if (utc !== undefined) return { at: new Date(local) }
  if (offset !== undefined) {
    const at = local - offset
    if (named.zone !== undefined && offsetAt(named.zone, at) !== offset)
      return { problem: `has an offset that ${named.zone} does not have at that time` }
    return { at: new Date(at) }
  }
  const of = named.zone ?? zone
  const at = instantOf(of, local)
  return at === undefined
    ? { problem: `does not exist in ${of}, whose clocks are put forward over it` }
    : { at: new Date(at) }
}

/** The zone of the tags, if they have one. Other tags are ignored, unless they are marked as critical (RFC 9557 3.3). */
function zoneOf(tags: string): { readonly zone: string | undefined } | { readonly problem: string } {
  const names = tags === '' ? [] : tags.slice(1, -1).split('][')
  const [first] = names.filter((name) => !name.includes('='))
  const unknown = names.find((name) => name.startsWith('!') && name.includes('='))
  if (unknown !== undefined) return { problem: `has a tag that is not supported: [${unknown}]` }
  const zone = first?.replace(/^!/, '')
  if (zone !== undefined && !isZone(zone)) return { problem: `has an unknown time zone: [${zone}]` }
  return { zone }
}

function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined
  } catch {
    return false
  }
}

/** The first instant of a local time in a zone; undefined if the zone leaves it out. */
function instantOf(zone: string, local: number): number | undefined {
  const day = 24 * 60 * MINUTE
  const offsets = [offsetAt(zone, local - day), offsetAt(zone, local + day)]
  const found = offsets.map((offset) => local - offset).filter((at) => at + offsetAt(zone, at) === local)
  return found.length === 0 ? undefined : Math.min(...found)
}

/** How far the clocks of a zone are ahead of UTC, in milliseconds. */
function offsetAt(zone: string, at: number): number {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
  }).formatToParts(at)
  const of = Object.fromEntries(parts.map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = of
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000
}
