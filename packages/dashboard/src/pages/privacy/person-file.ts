import { Readable } from 'node:stream'
import type { PersonPage } from '@postrider/core'

/** All that is stored about a recipient as JSON: a page of deliveries at a time, so that a recipient with many takes no more memory. */
export function personFile(first: PersonPage, rest: (next: string) => Promise<PersonPage>): Readable {
  return Readable.from(texts(first, rest), { objectMode: false })
}

async function* texts(first: PersonPage, rest: (next: string) => Promise<PersonPage>): AsyncGenerator<string> {
  const { deliveries: _, next: __, ...person } = first
  yield `${JSON.stringify(person).slice(0, -1)},"deliveries":[`
  let separator = ''
  for (
    let page: PersonPage | undefined = first;
    page;
    page = page.next === undefined ? undefined : await rest(page.next)
  ) {
    for (const delivery of page.deliveries) {
      yield `${separator}\n${JSON.stringify(delivery)}`
      separator = ','
    }
  }
  yield '\n]}\n'
}
