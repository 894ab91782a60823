/** Characters in which HTML declares its charset: the standard's 1,024 bytes (HTML 13.2.3.2), and what mail programs write before it. */
const BEGINNING = 4096
/** A meta element or the XML declaration. */
const DECLARATIONS = /<(?:meta|\?xml)[\s/][^<>]*>/gi
/** Elements that describe something else than the charset. */
const OTHER = /[\s"'](?:name|property|itemprop)\s{0,16}=/i
const CHARSET = /([\s"';](?:charset|encoding)\s{0,16}=\s{0,16}["']?)[\w.:+-]{1,40}/i

/**
 * Returns HTML that was converted to UTF-8 with that charset in its meta elements. In mail the header field counts, but programs that store the HTML
 * without it read these.
 */
export function declareUtf8(html: string): string {
  const beginning = html
    .slice(0, BEGINNING)
    .replace(DECLARATIONS, (written) => (OTHER.test(written) ? written : written.replace(CHARSET, '$1utf-8')))
  return beginning + html.slice(BEGINNING)
}
