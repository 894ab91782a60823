import type { DnsHost } from '@postrider/core'
import { catalogue } from '../../frame/words.ts'

/** Where records are entered at the services that host most domains, as their menus were in November 2026. */
export const dnsHostWords = catalogue({
  en: {
    title: (name: string) => `The DNS of this domain is at ${name}`,
    unknown: (hosts: string) => `Name servers of this domain: ${hosts}. Enter the records where you manage it.`,
    appended: (domain: string) =>
      `If the form appends ${domain} to a host by itself, enter only the part before it; for the domain itself, “@” or nothing.`,
    where: {
      cloudflare: 'Choose the domain, then DNS, Records, Add record. Set CNAME records to “DNS only”.',
      godaddy: 'Open the Domain Portfolio, choose the domain, then DNS, Add New Record.',
      namecheap: 'Open the Domain List, Manage, Advanced DNS, Add New Record.',
      route53:
        'Open Hosted zones, choose the domain, Create record. TXT values are entered in quotation marks, each string in its own.',
      google: 'Open Network services, Cloud DNS, choose the zone, Add standard.',
      azure: 'Open DNS zones, choose the zone, Record sets, Add.',
      ionos: 'Open Domains & SSL, the gear next to the domain, DNS, Add record.',
      squarespace: 'Open Domains, choose the domain, DNS, DNS Settings, Custom Records.',
      ovh: 'Open Web Cloud, Domain names, choose the domain, DNS zone, Add an entry.',
      hostinger: 'Open Domains, choose the domain, DNS / Nameservers, Manage DNS records.',
    } satisfies Record<DnsHost, string>,
  },
  de: {
    title: (name) => `Das DNS dieser Domain liegt bei ${name}`,
    unknown: (hosts) =>
      `Für diese Domain antworten ${hosts}. Tragen Sie die Einträge dort ein, wo Sie ihr DNS verwalten.`,
    appended: (domain) =>
      `Hängt das Formular ${domain} selbst an den Host, geben Sie nur den Teil davor ein; für die Domain selbst „@“ oder nichts.`,
    where: {
      cloudflare: 'Domain wählen, dann DNS, Einträge, Eintrag hinzufügen. CNAME-Einträge auf „Nur DNS“ stellen.',
      godaddy: 'Domainportfolio öffnen, Domain wählen, dann DNS, Neuen Eintrag hinzufügen.',
      namecheap: 'Domain List öffnen, Manage, Advanced DNS, Add New Record.',
      route53:
        'Gehostete Zonen öffnen, Domain wählen, Datensatz erstellen. TXT-Werte stehen in Anführungszeichen, jede Zeichenfolge in eigenen.',
      google: 'Netzwerkdienste öffnen, Cloud DNS, Zone wählen, Standard hinzufügen.',
      azure: 'DNS-Zonen öffnen, Zone wählen, Datensatzgruppen, Hinzufügen.',
      ionos: 'Domains & SSL öffnen, das Zahnrad neben der Domain, DNS, Record hinzufügen.',
      squarespace: 'Domains öffnen, Domain wählen, DNS, DNS-Einstellungen, Benutzerdefinierte Einträge.',
      ovh: 'Web Cloud öffnen, Domainnamen, Domain wählen, DNS-Zone, Eintrag hinzufügen.',
      hostinger: 'Domains öffnen, Domain wählen, DNS / Nameserver, DNS-Einträge verwalten.',
    },
  },
})
