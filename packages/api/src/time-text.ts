/** `2026-01-05 10:11:12`, in UTC: as v2 writes times (v2 contract sections 9 and 12.2), and v3 those of templates (1.10). */
export function timeText(at: Date): string {
  return at.toISOString().slice(0, 19).replace('T', ' ')
}
