export const link = (url: string) => `<a href="${url}">x</a>`

/** HTML, and the URLs whose clicks are tracked in it; everything else comes out as it was, octet for octet. */
export const htmlCases = (base: string): readonly [what: string, html: string, urls?: readonly string[]][] => [
  ['upper case', '<A CLASS=x HREF="HTTPS://Quay.example/A">x</A>', ['HTTPS://Quay.example/A']],
  ['no quotes', '<a href=https://quay.example/a/>x</a>', ['https://quay.example/a/']],
  ['single quotes', "<a title='>' href = 'https://quay.example/a'>x</a>", ['https://quay.example/a']],
  ['blanks and line ends', '<a\nhref="\n https://quay.example/\na ">x</a>', ['https://quay.example/a']],
  ['an area', '<map><area shape=rect href="https://quay.example/a"></map>', ['https://quay.example/a']],
  ['entities', '<a href="https://quay.example/?a=1&amp;b=2&#38;c=&quot;">x</a>', ['https://quay.example/?a=1&b=2&c="']],
  ['an ambiguous entity', '<a href="https://quay.example/?a=1&copy=2">x</a>', ['https://quay.example/?a=1&copy=2']],
  [
    'other letters',
    '<a href="https://häfen.example/Süd?q=ü">x</a>',
    ['https://xn--hfen-loa.example/S%C3%BCd?q=%C3%BC'],
  ],
  ['two hrefs', '<a href="https://quay.example/1" href="https://quay.example/2">x</a>', ['https://quay.example/1']],
  ['a self-closing tag', '<a href="https://quay.example/a"/>', ['https://quay.example/a']],
  ['a link in a broken tag', '<p <a href="https://quay.example/a">x</a>', []],
  ['a tag that never ends', '<a href="https://quay.example/a"', []],
  ['an attribute that never ends', '<a href="https://quay.example/a>x</a>', []],
  ['a link behind a stray quote', '<p title="">"<a href="https://quay.example/a">x</a>', ['https://quay.example/a']],
  [
    'mail, phone, script and data',
    ['mailto:a@b.example', 'tel:+4940', 'javascript:go()', 'data:text/html,x', 'ftp://quay.example/a']
      .map(link)
      .join(''),
  ],
  [
    'links within the page and relative ones',
    ['#top', '/berths', 'berths', '//quay.example/a', '?a', '', ' '].map(link).join(''),
  ],
  [
    'what is no URL',
    ['https://', 'http:///', 'https://quay example/', 'https:quay.example', 'http://[::g]/'].map(link).join(''),
  ],
  [
    'URLs without a valid host name',
    ['https:///quay.example/a', 'http://-/x', 'https://a..b/c', 'https://*.quay.example/a'].map(link).join(''),
  ],
  [
    'other attributes',
    '<img src="https://quay.example/a.png"><form action="https://quay.example/f"></form><q cite="https://quay.example">q</q>',
  ],
  [
    'other elements',
    '<link href="https://quay.example/a.css"><base href="https://quay.example/"><abbr href="https://quay.example/">x</abbr>',
  ],
  [
    'the head',
    '<html><head><link rel=stylesheet href="https://quay.example/a.css"><noscript><a href="https://quay.example/n">n</a></noscript></head><body>x',
  ],
  [
    'a head that never ends',
    '<head><title>x</title><p><a href="https://quay.example/a">x</a>',
    ['https://quay.example/a'],
  ],
  ['comments', '<!-- <a href="https://quay.example/a">x</a> --><!----><!-->-->'],
  ['what only Outlook reads', '<!--[if mso]><a href="https://quay.example/mso">x</a><![endif]-->'],
  [
    'what Outlook does not read',
    '<!--[if !mso]><!--><a href="https://quay.example/a">x</a><!--<![endif]-->',
    ['https://quay.example/a'],
  ],
  [
    'what Outlook does not read, revealed',
    '<![if !mso]><a href="https://quay.example/a">x</a><![endif]>',
    ['https://quay.example/a'],
  ],
  [
    'scripts and styles',
    '<script>"<a href=\\"https://quay.example/a\\">"</script><style>a{background:url(https://quay.example)}</style>',
  ],
  ['a text area', '<textarea><a href="https://quay.example/a">x</a></textarea>'],
  [
    'links switched off',
    '<a data-postrider-track=off href="https://quay.example/1">1</a><a href="https://quay.example/2" ClickTracking="OFF">2</a><a data-pm-no-track href="https://quay.example/3">3</a>',
  ],
  ['a link not switched off', '<a clicktracking=on href="https://quay.example/1">1</a>', ['https://quay.example/1']],
  [
    'our own links',
    link(`${base}/t/c/x`) + link(`${base.toUpperCase()}/T/u/x`) + link(`${base}/docs`),
    [`${base}/docs`],
  ],
  [
    'URLs of the longest length and beyond',
    link(`https://quay.example/${'a'.repeat(4075)}`) + link(`https://quay.example/${'a'.repeat(4076)}`),
    [`https://quay.example/${'a'.repeat(4075)}`],
  ],
  [
    'odd tags',
    '<a><a href><a href=><a =href="https://quay.example"></a><></><a/href="https://quay.example/a">x</a>',
    ['https://quay.example/a'],
  ],
  [
    'credentials and ports',
    link('https://user:pw@quay.example:8443/a?b#c'),
    ['https://user:pw@quay.example:8443/a?b#c'],
  ],
]
