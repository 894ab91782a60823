import t from 'tap'
import { mail, offer, startSandbox } from './sandbox.ts'

const sandbox = await startSandbox(t)
const read = async (path: string, language: string) =>
  (await fetch(`${sandbox.url}${path}`, { headers: { 'accept-language': language } })).text()

t.test('each page is in the language that the browser prefers, English or German', async (t) => {
  const { id } = await sandbox.store(t, mail('Subject: Berth four'))
  await offer(await sandbox.session(t), 'a@b.example', 'bounce@harbor.example')
  const rows: readonly (readonly [path: string, english: string, german: string])[] = [
    ['/', 'Choose a message', 'Wählen Sie eine Nachricht'],
    ['/?q=nothing', 'No message matches', 'Keine Nachricht gefunden'],
    ['/rejected', 'Rejected and deferred', 'Abgelehnt und verschoben'],
    [`/view/${id}`, 'Return path', 'Return-Path'],
    [`/view/${id}?part=header`, 'Parts of the message', 'Teile der Nachricht'],
    [`/view/${id}?part=checks`, 'not signed', 'nicht signiert'],
    ['/view/none', 'Message not found', 'Nachricht nicht gefunden'],
  ]
  for (const [path, english, german] of rows) {
    const plain = await read(path, 'fr, en;q=0.5')
    t.match(plain, '<html lang="en"', path)
    t.match(plain, english)
    t.notMatch(plain, german)
    const translated = await read(path, 'de-AT,de;q=0.9,en;q=0.8')
    t.match(translated, '<html lang="de"', path)
    t.match(translated, german)
    t.notMatch(translated, english)
  }
})
