import t from 'tap'
import { problemText } from '../../packages/dashboard/src/frame/words/error-words.ts'
import { openDashboard } from './dashboard.ts'

t.test('an error of a form names the field in the words of the page, in its language', async (t) => {
  const { owner, url } = await openDashboard(t)
  const ada = await owner()
  const post = async (language: string) => {
    const response = await fetch(`${url}/app/${ada.accountId}/settings`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: ada.cookie, 'accept-language': language, 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ timeZone: 'Mars/Base', mailClass: 'normal' }),
    })
    t.equal(response.status, 400)
    return response.text()
  }
  t.match(await post('en'), /role="alert".*Time zone: must be the IANA name of a time zone/s)
  t.match(await post('de'), /role="alert".*Zeitzone: muss der IANA-Name einer Zeitzone sein/s)
})

t.test('values stay in a translated sentence, and what is not known stays as it is', async (t) => {
  const german = (sentence: string) => problemText('de', sentence)
  t.equal(german('Parameter [name] is invalid: must have 1 to 100 characters'), 'Name: braucht 1 bis 100 Zeichen')
  t.equal(german('Parameter [name] not passed'), 'Name fehlt')
  t.equal(
    german('Key limit reached: an account can have at most 100 active keys'),
    'Ein Konto kann höchstens 100 aktive Schlüssel haben',
  )
  t.equal(
    german('URL check failed: received status 500. With enabled 0 there is no check'),
    'Die Prüfung der URL ist gescheitert: received status 500',
  )
  t.equal(german('Something else'), 'Something else')
  t.equal(problemText('en', 'Parameter [event_days] is invalid: must be a number'), 'Days of events: must be a number')
})
