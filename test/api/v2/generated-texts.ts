/** HTML, and the plain text that is generated from it. */
export const GENERATED: readonly (readonly [name: string, html: string, text: string])[] = [
  [
    'cells of a table are a blank apart, and its rows are lines',
    '<table><tr><td>Widget</td><td>2</td><td>$5</td></tr><tr><th>Rope</th><td>1</td><td>&euro;1</td></tr></table>',
    'Widget 2 $5\nRope 1 €1',
  ],
  [
    'cells with paragraphs, and a table without the ends of its parts',
    '<table><tbody><tr><td><p>Widget</p><td><div>2</div><tr><td>Rope<td>1</table>after',
    'Widget 2\nRope 1\n\nafter',
  ],
  [
    'tables within tables, as newsletters lay them out',
    '<table><tr><td><table><tr><td><h1>Harbour news</h1></td></tr></table></td></tr><tr><td><p>One</p><p>Two</p></td><td>Side</td></tr></table>',
    'Harbour news\n\nOne\n\nTwo\n\nSide',
  ],
  ['empty cells and spacers', '<table><tr><td>&nbsp;</td><td></td><td>a</td><td> </td><td>b</td></tr></table>', 'a b'],
  ['a cell outside of a table', '<td>a</td><td>b</td></tr></table>c', 'a b\n\nc'],
  [
    'paragraphs, headings and a rule',
    '<h1>Hello</h1><p>One\n two</p>\n\n<p>Three</p><hr><h2>Bye</h2>now',
    'Hello\n\nOne two\n\nThree\n\n----------\n\nBye\n\nnow',
  ],
  ['the lines of an editor', '<div>a</div><div><br></div><div>b<br>c</div><br><br><br>d', 'a\n\nb\nc\n\nd'],
  [
    'lists, in lists',
    'Bring:<ul><li>rope<li><p>sails</p></li><li>tools<ol start="3"><li>saw</li><li>axe</li></ol></li></ul>Soon',
    'Bring:\n\n- rope\n- sails\n- tools\n  3. saw\n  4. axe\n\nSoon',
  ],
  ['paragraphs of an item', '<ol><li><p>a</p><p>b</p></li><li>c</li></ol>', '1. a\n\n   b\n2. c'],
  [
    'quotations',
    '<p>He said</p><blockquote><p>one<br>two</p><blockquote>three</blockquote></blockquote><p>so</p>',
    'He said\n\n> one\n> two\n>\n> > three\n\nso',
  ],
  ['preformatted text', '<p>a</p><pre>\nfn()  {\n\n\n  x\n}</pre>b  c', 'a\n\nfn()  {\n\n\n  x\n}\n\nb c'],
  [
    'links behind their words',
    '<p><a href="https://quay.example/a?b=1&amp;c=2">Pay</a> or <a href=" https://quay.example/x y ">see</a>.</p>',
    'Pay (https://quay.example/a?b=1&c=2) or see (https://quay.example/x%20y).',
  ],
  [
    'words directly before and after a link',
    'a<a href="https://quay.example/1">b</a>c<a href="https://quay.example/2">d</a>.',
    'ab (https://quay.example/1) cd (https://quay.example/2).',
  ],
  [
    'links whose words are the address',
    '<a href="https://quay.example/">https://quay.example</a>, <a href="https://www.quay.example/a">quay.example/a</a>, ' +
      '<a href="mailto:a@quay.example?subject=x">a@quay.example</a>, <a href="tel:+351210000">+351 21 00 00</a>',
    'https://quay.example/, https://www.quay.example/a, a@quay.example, +351210000',
  ],
  [
    'links of other kinds',
    '<a href="mailto:a%2Bb@quay.example">Write</a> <a href="#top">up</a> <a href="javascript:x()">run</a> <a href="">none</a> <a>name</a>',
    'Write (a+b@quay.example) up run none name',
  ],
  [
    'a link without words, and one around a table',
    'See<a href="https://quay.example/i"><img src="i.png"></a><a href="https://quay.example/t"><table><tr><td>All</td></tr></table></a>',
    'See https://quay.example/i\n\nAll (https://quay.example/t)',
  ],
  [
    'links that do not end',
    '<a href="https://quay.example/1">one <a href="https://quay.example/2">two',
    'one (https://quay.example/1) two (https://quay.example/2)',
  ],
  [
    'images by their words',
    '<p><img src="a.png" alt="Harbour  view"><img src="b.png" alt=""><img src="c.gif"> here</p>',
    'Harbour view here',
  ],
  [
    'character references are characters',
    '&lt;b&gt; &amp;amp; caf&eacute; &#8364;&#x20AC; &hellip; &nosuch; AT&T &#0;',
    '<b> &amp; café €€ … &nosuch; AT&T \uFFFD',
  ],
  [
    'a head, scripts, styles and comments are left out',
    '<!doctype html><html><head><title>T</title><style>p{}</style><script>"<p>"</script></head><body>a<!-- b --><template>c</template>' +
      '<!--[if mso]><p>Outlook</p><![endif]--><select><option>d</select> e</body></html>',
    'a e',
  ],
  [
    'a preheader is left out, whatever hides it',
    '<div style="color:red; DISPLAY : none !important">a<div>b</div></div><span hidden>c</span><p style="max-height:0px;opacity:0">d<p>e' +
      '<span style="visibility:hidden">f</span><i style="mso-hide:all;max-height:0.5em">g</i>',
    'eg',
  ],
  [
    'a preheader is left out that has no size or height',
    '<div style="font-size:0">a</div><div style="height:0; overflow:hidden">b</div><div style="overflow:hidden;max-width:0">c</div>' +
      '<div style="OPACITY:0;mso-hide:all">d</div><span style="font:0/0 a">e</span><p style="visibility:collapse">f</p><p>g',
    'g',
  ],
  [
    'a preheader is left out whose style has later or important values',
    '<div style="display:block;display:none">a</div><div style="Display:NONE!Important;display:block">b</div><div style="display:none;display:block">c</div>',
    'c',
  ],
  [
    'a cell without a size, whose contents have one',
    '<table><tr><td style="font-size:0px">a<div style="font-size:13px">b<b>c</b></div>d<i style="font-size:100%">e</i>' +
      '<img alt="Harbour"></td><td>f</td></tr></table>g',
    'bc\nHarbour\nf\n\ng',
  ],
  [
    'what is small, low or of no interest to screen readers is shown',
    '<p style="line-height:0">a</p><p style="font-size:0.5em">b</p><p style="height:0">c</p><p aria-hidden="true">d</p><p style="font:700 12px/0 x">e</p>' +
      '<p style="mso-hide:all">f</p>',
    'a\n\nb\n\nc\n\nd\n\ne\n\nf',
  ],
  [
    'old words and new ones are a blank apart, and letters of a word are not',
    '<del>old</del><ins>new</ins>, <s>$9</s><ins>$5</ins>, boat<ins>s</ins>',
    'old new, $9 $5, boats',
  ],
  [
    'an address that leads nowhere from a mail is left out',
    '<a href="/rel">Rel</a> <a href="a.html?b">page</a> <a href="//quay.example/a">host</a> <a href="www.quay.example/b">www</a> <a href="{{url}}">tag</a>',
    'Rel page host (//quay.example/a) www (www.quay.example/b) tag ({{url}})',
  ],
  ['words of others are in quotation marks', 'She said <q>go <q>on</q>.</q></q>', 'She said "go \'on\'."'],
  [
    'line ends that the style keeps',
    '<div style="white-space:pre-line">one\n  two  three\n\nfour<b style="white-space:normal">\nfive</b></div>six\nseven' +
      '<p style="white-space: PRE-WRAP">x  y\n  z</p>end',
    'one\ntwo three\n\nfour five\nsix seven\n\nx  y\n  z\n\nend',
  ],
  [
    'a hidden element that does not end',
    '<table><tr><td><span style="display:none">a</td><td>b</td></tr></table><ul><li style="display:none">c<li>d</ul>',
    'b\n\n- d',
  ],
  [
    'blanks that fill a preheader, and marks where words may break',
    `<p>${'&#847;&zwnj;&nbsp;&#8199;&#65279;'.repeat(20)}</p><p>Har&shy;bour&#8203;master&nbsp;&nbsp;10&nbsp;&euro; \u06cc\u200c\u06a9</p>`,
    'Harbourmaster 10 € \u06cc\u200c\u06a9',
  ],
  ['white space between elements', '\n <b>a</b>\n<i>b</i>c <u> d </u>\t<s>e</s>\n', 'a bc d e'],
  ['ends without beginnings', '</div></p>a</b></ul></li></blockquote>b</pre>c', 'a\n\nb\n\nc'],
  ['elements in upper case, and unknown ones', '<P>a</P><O:P>b</O:P><X-Y>c</X-Y><BR/>d', 'a\n\nbc\nd'],
  ['text that is no element', '1 < 2 << 3 <> 4 </> 5 <', '1 < 2 << 3 <> 4 5 <'],
  ['no end of a comment', 'a<!-- b <p>c</p>', 'a'],
  ['no end of a tag', '<p>a</p><p title="b', 'a'],
  [
    'scripts of other directions, and beyond the basic plane',
    '<p>שלום</p><p>你好\u3000世界</p><p>🚢&#128674;</p>',
    'שלום\n\n你好\u3000世界\n\n🚢🚢',
  ],
]
