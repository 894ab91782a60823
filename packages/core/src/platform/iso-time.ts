const ISO_TIME = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i

/**
 * Returns a time in ISO 8601, or the beginning of a day; undefined if the text is neither. Without a zone it is UTC, as all times that are shown
 * are, whatever the time zone of the host.
 */
export function readIsoTime(text: string): Date | undefined {
  const [, day, clock = '00:00', zone = 'Z'] = ISO_TIME.exec(text) ?? []
  // 31 February would silently become 3 March.
  if (day === undefined || new Date(`${day}T00:00Z`).getUTCDate() !== Number(day.slice(8))) return undefined
  const time = new Date(`${day}T${clock}${zone.toUpperCase()}`)
  return Number.isNaN(time.getTime()) ? undefined : time
}
