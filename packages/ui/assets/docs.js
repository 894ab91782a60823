// Search of the documentation while one types. Without it, Enter leads to the page of results.
;(() => {
  const field = document.getElementById('q')
  if (!field) return
  const onPage = document.querySelector('.hits')
  let asked = 0
  let pause
  let box = onPage
  if (!onPage) {
    box = document.createElement('div')
    box.className = 'suggest found'
    box.hidden = true
    field.after(box)
  }

  async function ask() {
    const number = ++asked
    const text = field.value.trim()
    if (text === '') return show([])
    try {
      const answer = await fetch(`${field.form.action}?q=${encodeURIComponent(text)}`)
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      if (number !== asked) return
      const said = page.querySelector('#page [role=status]')
      const status = document.querySelector('#page [role=status]')
      if (onPage && status && said) status.textContent = said.textContent
      show([...page.querySelectorAll('.hits > li')].slice(0, onPage ? 20 : 6), onPage ? undefined : said)
    } catch {
      // The page of results says what is wrong.
    }
  }

  function show(hits, said) {
    if (onPage) return onPage.replaceChildren(...hits)
    const list = document.createElement('ul')
    list.append(...hits)
    box.replaceChildren(...(said ? [said] : []), list)
    box.hidden = hits.length === 0 && !said
  }

  field.addEventListener('input', () => {
    clearTimeout(pause)
    pause = setTimeout(ask, 150)
  })
  field.form.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !onPage) box.hidden = true
  })
  document.addEventListener('click', (event) => {
    if (!onPage && !field.form.contains(event.target)) box.hidden = true
  })
})()
