import t from 'tap'
import { openBrowser, skipWithoutBrowser } from '../helpers/browser.ts'
import { makeJourney } from './mailbox.ts'

t.test(
  'nothing in a hostile message runs in a browser, in the inbox or on its own',
  { ...skipWithoutBrowser, timeout: 90_000 },
  async (t) => {
    const journey = await makeJourney(t)
    const context = await openBrowser(t)
    const page = await context.newPage()
    const ran: string[] = []
    page.on('dialog', async (dialog) => {
      ran.push(dialog.message())
      await dialog.dismiss()
    })
    await page.exposeFunction('canary', (what: string) => ran.push(what))
    const run = (what: number): string => `(window.canary||top.canary||alert)('${what}')`
    const evil = [
      `<script>${run(1)}</script>`,
      `<img src="x" onerror="${run(2)}">`,
      `<svg onload="${run(3)}"><script>${run(4)}</script></svg>`,
      `<iframe srcdoc="<script>${run(5)}</script>"></iframe>`,
      `<iframe src="javascript:${run(6)}"></iframe>`,
      `<body onload="${run(7)}">`,
      `<details open ontoggle="${run(8)}"><summary>x</summary></details>`,
      `<object data="data:text/html,<script>${run(9)}</script>"></object>`,
      `<embed src="data:text/html,<script>${run(10)}</script>">`,
      `<meta http-equiv="refresh" content="0;url=javascript:${run(11)}">`,
      `<meta http-equiv="refresh" content="0;url=${journey.shop}">`,
      `<form id="f" action="${journey.shop}"></form><button form="f" id="send">send</button>`,
      `<input autofocus onfocus="${run(12)}">`,
      `<style>@import '${journey.shop}'; p { background: url("javascript:${run(13)}") }</style>`,
      `<base href="${journey.shop}"><a id="script" href="javascript:${run(14)}">x</a>`,
      `<math><mtext></mtext><mglyph><style><!--</style><img title="--><img src=x onerror=${run(15)}>">`,
      `</iframe></textarea></title><script>${run(16)}</script>`,
    ].join('\n')
    const subject = `"><img src=x onerror="${run(17)}"><script>${run(18)}</script>`
    const settings = { opentrack: 0, clicktrack: 0, unsubscribe: 0, footer: 0 }
    const { inboxId } = await journey.deliver({ content: evil, subject, settings })
    for (const path of [
      '/',
      `/view/${inboxId}`,
      `/messages/${inboxId}/html`,
      `/messages/${inboxId}`,
      `/messages/${inboxId}/raw`,
    ]) {
      await page.goto(`${journey.inbox}${path}`, { waitUntil: 'networkidle' }).catch((error: Error) => {
        // The raw message is not shown but kept as a file.
        if (!/Download is starting|ERR_ABORTED/.test(error.message)) throw error
      })
      if (path.endsWith('/html')) {
        await page.click('#script')
        await page.click('#send')
        t.equal(page.url(), `${journey.inbox}${path}`, 'it leads nowhere by itself')
      }
      t.strictSame(ran, [], path)
    }
    // The canary sings where a script may run.
    await page.goto('about:blank')
    await page.setContent(`<script>${run(19)}</script>`)
    t.strictSame(ran, ['19'])
  },
)
