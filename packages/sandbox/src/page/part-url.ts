/** URL of a message's page with these fields, besides those of the list it was reached from. */
export function partUrl(id: string, query: string, fields: Readonly<Record<string, string>>): string {
  const all = new URLSearchParams(query)
  for (const [name, value] of Object.entries(fields)) all.set(name, value)
  return all.size === 0 ? `/view/${id}` : `/view/${id}?${all.toString()}`
}
