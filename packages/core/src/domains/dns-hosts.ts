/** Services that host the DNS of most domains, by the endings of the names of their name servers. */
const DNS_HOSTS = [
  ['cloudflare', 'Cloudflare', /\.ns\.cloudflare\.com$/],
  ['godaddy', 'GoDaddy', /\.domaincontrol\.com$/],
  ['namecheap', 'Namecheap', /\.registrar-servers\.com$/],
  ['route53', 'Amazon Route 53', /\.awsdns-\d\d\.(com|net|org|co\.uk)$/],
  ['google', 'Google Cloud DNS', /^ns-cloud-[a-z0-9]{1,4}\.googledomains\.com$/],
  ['azure', 'Azure DNS', /\.azure-dns\.(com|net|org|info)$/],
  ['ionos', 'IONOS', /\.ui-dns\.(com|de|org|biz)$/],
  ['squarespace', 'Squarespace', /\.squarespacedns\.com$/],
  ['ovh', 'OVHcloud', /\.(ovh\.(net|ca)|anycast\.me)$/],
  ['hostinger', 'Hostinger', /\.dns-parking\.com$/],
] as const

export type DnsHost = (typeof DNS_HOSTS)[number][0]

/** Returns who answers for a zone with these name servers; undefined for others. */
export function dnsHostOf(nameServers: readonly string[]): { readonly id: DnsHost; readonly name: string } | undefined {
  const found = DNS_HOSTS.find(([, , ending]) => nameServers.some((host) => ending.test(host.toLowerCase())))
  return found && { id: found[0], name: found[1] }
}
