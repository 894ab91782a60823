// What pages do beyond their forms and links: copy buttons, live parts, keys, and times that count on. Every page works without it.
;(() => {
  const body = document.body
  const words = { ...body.dataset }

  // Copying. A button names its text, or the element that has it.
  document.addEventListener('click', async (event) => {
    const button = event.target.closest?.('[data-copy], [data-copy-from]')
    if (!button) return
    const from = button.dataset.copyFrom
    const text = from ? document.getElementById(from)?.textContent : button.dataset.copy
    try {
      await navigator.clipboard.writeText(text ?? '')
      toast(words.copied)
    } catch {
      toast(words.notCopied)
    }
  })

  let toastTimer
  function toast(text) {
    let box = document.getElementById('toast')
    if (!box) {
      box = document.createElement('div')
      box.id = 'toast'
      box.className = 'toast'
      box.setAttribute('role', 'status')
      body.append(box)
    }
    box.hidden = false
    box.textContent = text
    clearTimeout(toastTimer)
    toastTimer = setTimeout(() => (box.hidden = true), 4000)
  }
  const said = document.querySelector('.toast[data-fades]')
  if (said) setTimeout(() => (said.hidden = true), Number(said.dataset.fades) || 6000)

  // Buttons that open a dialog, and those that close the one around them. A question is a popover without script; with it, nothing behind can be reached.
  document.addEventListener('click', (event) => {
    const opener = event.target.closest?.('[data-opens]')
    if (opener) {
      event.preventDefault()
      const nav = document.getElementById('nav')
      if (nav?.matches(':popover-open')) nav.hidePopover()
      document.getElementById(opener.dataset.opens)?.showModal()
    }
    event.target.closest?.('[data-closes]')?.closest('dialog')?.close()
  })

  // What takes longer than 300 ms is marked: the style waits that long. Coming back to a page ends the mark.
  function busy(isBusy) {
    body.toggleAttribute('data-busy', isBusy)
    if (isBusy) setTimeout(busy, 20_000, false)
  }
  addEventListener('pageshow', () => busy(false))
  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href]')
    if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    const { pathname, search, host } = link
    const isFile =
      link.target ||
      link.hasAttribute('download') ||
      /\.csv$|\/(?:source|zone|file|files\/\d+|attachments\/\d+)$/.test(pathname)
    if (host === location.host && !isFile && pathname + search !== location.pathname + location.search) busy(true)
  })

  // A form is sent once, however often its button is pressed: a double click would send a message twice.
  const sent = new WeakMap()
  document.addEventListener('submit', (event) => {
    const form = event.target
    if (event.defaultPrevented || form.method !== 'post' || event.submitter?.formTarget) return
    if (event.timeStamp - (sent.get(form) ?? -Infinity) < 10_000) return event.preventDefault()
    sent.set(form, event.timeStamp)
    busy(true)
  })

  // A preview follows what is typed: its button is pressed after a pause. A new frame adds no step to the way back.
  for (const button of document.querySelectorAll('[data-previews]')) {
    let pause
    button.form.addEventListener('input', () => {
      clearTimeout(pause)
      pause = setTimeout(() => {
        const frame = document.querySelector(`iframe[name="${button.formTarget}"]`)
        const next = frame.cloneNode()
        next.removeAttribute('src')
        frame.replaceWith(next)
        button.form.requestSubmit(button)
      }, 400)
    })
  }

  // What was typed into an editor is not lost by a link or another button without a question.
  addEventListener('beforeunload', (event) => {
    for (const form of document.querySelectorAll('form[data-unsaved]')) {
      const isTyped = [...form.elements].some((one) => one.matches('input, textarea') && one.value !== one.defaultValue)
      if ((isTyped || form.dataset.unsaved === 'typed') && !sent.has(form)) event.preventDefault()
    }
  })

  // A select or a switch that submits its own form.
  document.addEventListener('change', (event) => {
    if (event.target.matches?.('[data-submits]')) event.target.form?.requestSubmit()
  })

  // A choice that other pages keep, such as the language of examples.
  for (const input of document.querySelectorAll('input[data-keeps]')) {
    try {
      const name = input.dataset.keeps || input.name
      if (localStorage.getItem(name) === input.value) input.checked = true
      input.addEventListener('change', () => {
        localStorage.setItem(name, input.value)
        for (const other of document.querySelectorAll(`input[data-keeps="${name}"]`))
          other.checked = other.value === input.value
      })
    } catch {
      // A browser may refuse to store anything; the choice is then of this page only.
    }
  }

  // The sidebar of a long list starts where the open page is.
  const side = document.querySelector('.side .mid') ?? document.querySelector('.side')
  const open = side?.querySelector('[aria-current]')
  if (open && side.scrollHeight > side.clientHeight) side.scrollTop = open.offsetTop - side.clientHeight / 2
  // So does a row of choices that is wider than the screen. Its own scroll position only: scrollIntoView would move the page, too.
  for (const row of document.querySelectorAll('.tabs, .pick')) {
    const chosen = row.querySelector('[aria-current]')
    if (chosen && row.scrollWidth > row.clientWidth)
      row.scrollLeft +=
        chosen.getBoundingClientRect().left -
        row.getBoundingClientRect().left -
        (row.clientWidth - chosen.offsetWidth) / 2
  }

  // Times that count on: data-since has milliseconds since 1970 by the server's clock, which this one is compared with once.
  const skew = Number(body.dataset.now ?? Date.now()) - Date.now()
  const now = () => Date.now() + skew
  function ago(since) {
    const seconds = Math.max(0, Math.round((now() - since) / 1000))
    const [value, unit] =
      seconds < 60
        ? [seconds, 's']
        : seconds < 3600
          ? [Math.round(seconds / 60), 'min']
          : [Math.round(seconds / 3600), 'h']
    return (words.ago ?? '{}').replace('{}', `${value} ${unit}`)
  }

  // Live parts: the server says that something changed, and the page is fetched again and morphed where it differs.
  const liveUrl = body.dataset.live
  let seen = now()
  let connected = false
  let lastRefresh = 0
  let waiting

  function paint() {
    for (const time of document.querySelectorAll('time[data-since]')) {
      const text = ago(Number(time.dataset.since))
      if (time.textContent !== text) time.textContent = text
    }
    const mark = document.querySelector('.live')
    if (!mark) return
    const stale = !connected && now() - seen > 5000
    mark.classList.toggle('stale', stale)
    const text = stale
      ? `${words.paused} ${new Date(seen).toLocaleTimeString(document.documentElement.lang)}`
      : `${words.asOf} ${ago(seen)}`
    if (mark.textContent !== text) mark.textContent = text
  }

  let moved = -Infinity
  document.addEventListener('pointermove', (event) => (moved = event.timeStamp), { passive: true })

  /** Nothing moves under a pointer on its way to a row, or under somebody who types, who has not sent yet what was typed, or who has a dialog or a menu open. */
  function isBusy() {
    const active = document.activeElement
    if (active?.matches('#page input, #page textarea, #page select')) return true
    if (document.querySelector('#page dialog[open], #page :popover-open')) return true
    if (performance.now() - moved < 1500 && document.querySelector('#page tr:hover .go')) return true
    const fields = document.querySelectorAll('#page form[method=post] :is(input, textarea)')
    return [...fields].some((one) => one.value !== one.defaultValue || one.checked !== one.defaultChecked)
  }

  async function refresh() {
    waiting = undefined
    if (document.hidden || isBusy()) return later(1000)
    lastRefresh = Date.now()
    try {
      await htmx.ajax('GET', location.href, {
        source: '#page',
        target: '#page',
        select: '#page',
        swap: 'outerMorph',
        headers: { 'x-page-refresh': '1' },
      })
      seen = now()
      document.dispatchEvent(new Event('postrider:refreshed'))
    } catch {
      later(3000)
    }
    paint()
  }

  function later(milliseconds) {
    waiting ??= setTimeout(refresh, Math.max(milliseconds, 700 - (Date.now() - lastRefresh)))
  }

  // New rows of a list wait behind a button while somebody reads on below its beginning: nothing moves away.
  const known = new Set()
  const held = new Set()
  function holdNewer() {
    const list = document.querySelector('#page [data-newest]')
    const button = document.querySelector('#page .newer')
    if (!list || !button) return
    const rows = [...list.querySelectorAll('tbody tr[id]')]
    const first = rows.findIndex(({ id }) => known.has(id))
    if (list.getBoundingClientRect().top >= 0) held.clear()
    else for (const { id } of rows.slice(0, Math.max(0, first))) held.add(id)
    for (const row of rows) {
      known.add(row.id)
      // Only what differs: the observer sees the change.
      if (row.hidden !== held.has(row.id)) row.hidden = held.has(row.id)
    }
    const count = rows.filter(({ hidden }) => hidden).length
    const text = button.dataset.newer.replace('{}', count)
    if (button.textContent !== text) button.textContent = text
    if (button.hidden !== (count === 0)) button.hidden = count === 0
  }
  document.addEventListener('click', (event) => {
    if (!event.target.closest?.('.newer')) return
    scrollTo({ top: 0, behavior: 'instant' })
    holdNewer()
  })
  if (liveUrl) {
    // Called before the browser paints.
    const watcher = new MutationObserver(holdNewer)
    watcher.observe(document.getElementById('page'), {
      childList: true,
      subtree: true,
      attributeFilter: ['hidden', 'id'],
    })
    holdNewer()
  }

  let wait = 3000
  function listen() {
    const stream = new EventSource(liveUrl)
    stream.addEventListener('open', () => {
      // What happened while the connection was broken is fetched now.
      if (!connected && now() - seen > 3000) later(0)
      connected = true
      wait = 3000
      seen = now()
      paint()
    })
    stream.addEventListener('error', () => {
      connected = false
      // After a response that is no stream, browsers give up: from a process that ends, or a proxy whose process restarts.
      if (stream.readyState !== EventSource.CLOSED) return
      setTimeout(listen, wait * (1 + Math.random()))
      wait = Math.min(30_000, wait * 2)
    })
    // Not while a change is to be fetched: the page is as of the time before it. Nor does the server send a beat then.
    stream.addEventListener('beat', () => {
      if (waiting === undefined) seen = now()
    })
    stream.addEventListener('changed', () => later(0))
    stream.addEventListener('ended', () => location.reload())
  }
  if (liveUrl) {
    const mark = document.querySelector('.live')
    if (mark) mark.hidden = false
    listen()
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden && waiting === undefined && now() - seen > 3000) later(0)
    })
  }
  setInterval(paint, 1000)
  paint()

  // Keys, unless somebody types. Off with the switch in the settings (WCAG 2.1.4).
  if (body.dataset.keys === 'on') {
    let started = 0
    document.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (event.target.closest?.('input, textarea, select, [contenteditable], dialog')) return
      const { key } = event
      if (key === '/') {
        const search = document.getElementById('q') ?? document.querySelector('[type=search]')
        return press(event, search ?? document.querySelector('[data-opens=palette]'), !search)
      }
      if (key === '?') return press(event, document.querySelector('[data-opens=keys-help]'), true)
      if (key === 'j' || key === 'k') return move(event, key === 'j' ? 1 : -1)
      if (key === 'g') {
        started = event.timeStamp
        return
      }
      if (event.timeStamp - started < 1500) {
        const link = document.querySelector(`a[data-key="${CSS.escape(key)}"]`)
        started = 0
        if (link) link.click()
      }
    })
  }

  function press(event, element, click = false) {
    if (!element) return
    event.preventDefault()
    if (click) element.click()
    else element.focus()
  }

  function move(event, by) {
    const rows = [...document.querySelectorAll('#page .go[href]')]
    if (rows.length === 0) return
    event.preventDefault()
    const at = rows.indexOf(document.activeElement)
    rows[Math.min(rows.length - 1, Math.max(0, at + by))]?.focus()
  }
})()
