/** Formats a time in UTC as `2026-01-05 10:11:12`, the format of v2 (v2 contract sections 9 and 12.2) and of v3 templates (1.10). */
export function timeText(at: Date): string {
  return at.toISOString().slice(0, 19).replace('T', ' ')
}
