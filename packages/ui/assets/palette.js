// The palette (Ctrl K): pages, actions and messages by a few letters. Its pages are those of the sidebar. Without it, the sidebar has them.
;(() => {
  const dialog = document.getElementById('palette')
  if (!dialog) return
  const field = document.getElementById('palette-q')
  const list = document.getElementById('palette-list')
  const MOST = 9
  let at = 0

  const clean = (text) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
  // Read when it is opened: the account's name and its pages are then those of the page.
  function entries() {
    const links = document.querySelectorAll('#nav a[href], #palette a[href]:not([data-finds])')
    const seen = new Set()
    return [...links]
      .map((link) => ({ text: (link.getAttribute('aria-label') ?? link.textContent).trim(), link }))
      .filter(({ text, link }) => {
        if (text === '' || link.classList.contains('brand') || seen.has(link.href)) return false
        seen.add(link.href)
        return true
      })
      .map(({ text, link }) => ({ text, to: link.href, words: clean(text).split(/[\s-]+/) }))
  }

  /** 0 if a word does not occur; more if it begins a word, most if it begins the first. */
  function score({ words }, wanted) {
    let sum = 0
    for (const part of wanted) {
      const found = words.findIndex((word) => word.startsWith(part))
      if (found === -1 && !words.some((word) => word.includes(part))) return 0
      sum += found === 0 ? 4 : found > 0 ? 2 : 1
    }
    return sum
  }

  function found() {
    const text = field.value.trim()
    const wanted = clean(text).split(/\s+/).filter(Boolean)
    const pages = entries()
      .map((entry) => ({ ...entry, rank: score(entry, wanted) }))
      .filter(({ rank }) => wanted.length === 0 || rank > 0)
      .sort((a, b) => b.rank - a.rank)
      .slice(0, MOST)
    if (text === '') return pages
    const messages = []
    const finds = dialog.querySelector('[data-finds]')
    const isId = /^[0-9a-f]{32}$|^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
    if (finds && isId) {
      const id = text.replaceAll('-', '').toLowerCase()
      messages.push({ text: finds.dataset.shows.replace('{}', () => id), to: finds.href.replace(/\?.*/, `/${id}`) })
    }
    if (finds)
      messages.push({
        text: finds.dataset.finds.replace('{}', () => text),
        to: finds.href + encodeURIComponent(text),
      })
    // An address or a number is no name of a page.
    return /[@\d:]/.test(text) ? [...messages, ...pages] : [...pages, ...messages]
  }

  function show() {
    const options = found()
    list.replaceChildren(
      ...options.map(({ text, to }, index) => {
        const option = document.createElement('li')
        option.id = `palette-${index}`
        option.setAttribute('role', 'option')
        option.dataset.to = to
        option.textContent = text
        return option
      }),
    )
    select(0)
  }

  function select(index) {
    const options = [...list.children]
    at = (index + options.length) % Math.max(1, options.length)
    for (const [number, option] of options.entries()) option.setAttribute('aria-selected', String(number === at))
    options[at]?.scrollIntoView({ block: 'nearest' })
    if (options[at]) field.setAttribute('aria-activedescendant', options[at].id)
    else field.removeAttribute('aria-activedescendant')
  }

  function go(option) {
    if (!option) return
    dialog.close()
    location.href = option.dataset.to
  }

  dialog.addEventListener('beforetoggle', (event) => {
    if (event.newState !== 'open') return
    field.value = ''
    show()
  })
  field.addEventListener('input', show)
  field.form.addEventListener('submit', (event) => {
    event.preventDefault()
    go(list.children[at])
  })
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    event.preventDefault()
    select(at + (event.key === 'ArrowDown' ? 1 : -1))
  })
  list.addEventListener('click', (event) => go(event.target.closest('[role=option]')))
  document.addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== 'k') return
    event.preventDefault()
    if (dialog.open) dialog.close()
    else if (!document.querySelector('dialog[open]')) dialog.showModal()
  })
})()
