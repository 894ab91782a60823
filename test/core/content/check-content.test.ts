import { type ContentCheckState, checkContent } from '@postrider/core'
import t from 'tap'

type Content = Parameters<typeof checkContent>[0]
const PLAIN: Content = {
  html: undefined,
  text: 'Hello',
  htmlSize: 0,
  size: 900,
  subject: 'Berth 4',
  headers: [],
  isBulk: false,
}

const check = (content: Partial<Content>) => {
  const checks = checkContent({ ...PLAIN, ...content })
  return (name: string): [ContentCheckState | undefined, number | undefined, readonly string[] | undefined] => {
    const one = checks.find((check) => check.name === name)
    return [one?.state, one?.count, one?.found]
  }
}

t.test('ordinary mail has nothing to complain of', async (t) => {
  const html = '<p>See <a href="https://ship.example/4">berth 4</a> <img src="https://ship.example/x.png" alt=""></p>'
  const states = checkContent({ ...PLAIN, html, htmlSize: html.length }).map(({ name, state }) => [name, state])
  t.strictSame(
    states.filter(([, state]) => state !== 'good'),
    [['one-click', 'unneeded']],
  )
})

t.test('links, images, words and sizes are found', async (t) => {
  const html = `<a href="http://ship.example/a">plain</a> <a href='https://bit.ly/x'>short</a><a href=https://192.0.2.7/x>numeric</a>
    <a href="https://evil.example/login">https://bank.example/login</a> <a href="https://www.ship.example/x">ship.example</a>
    <a href="mailto:a@b.example">mail</a> <a name="x">none</a> <IMG SRC="a.png"><img alt src="b.png"><!-- <img src="c.png"> -->
    <p>Click here, buy now!</p>`
  const of = check({ html, htmlSize: 103 * 1024, text: undefined, size: 11 * 1024 * 1024 })
  t.strictSame(of('links-plain'), ['hint', 1, ['http://ship.example/a']])
  t.strictSame(of('links-short'), ['bad', 1, ['https://bit.ly/x']])
  t.strictSame(of('links-numeric'), ['bad', 1, ['https://192.0.2.7/x']])
  t.strictSame(of('links-other'), ['bad', 1, ['https://evil.example/login']])
  t.strictSame(of('images-alt'), ['hint', 1, ['a.png']])
  t.strictSame(of('spam-words'), ['hint', 2, ['buy now', 'click here']])
  t.strictSame(of('clipping').slice(0, 2), ['hint', 103 * 1024])
  t.equal(of('size')[0], 'hint')
  t.equal(of('text-part')[0], 'hint')
})

t.test('one-click unsubscription is demanded of bulk mail, and needs both fields', async (t) => {
  const list = { name: 'List-Unsubscribe', value: '<https://ship.example/u>' }
  const post = { name: 'list-unsubscribe-post', value: 'List-Unsubscribe=One-Click' }
  const state = (content: Partial<Content>) => check(content)('one-click')[0]
  t.equal(state({ headers: [list, post] }), 'good')
  t.equal(state({ headers: [list], isBulk: true }), 'bad')
  t.equal(state({ headers: [{ ...list, value: '<mailto:u@ship.example>' }, post], isBulk: true }), 'bad')
  t.equal(state({}), 'unneeded')
})
