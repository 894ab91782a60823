/** Returns a path of the dashboard; anything else would make the log-in a redirect to other sites. */
export function ownPath(to: string): string {
  return /^\/app(?:\/[\w\-./?=&%:+~]*)?$/.test(to) && !to.includes('//') ? to : '/app'
}
