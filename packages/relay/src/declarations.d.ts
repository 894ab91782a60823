declare module 'libmime' {
  const libmime: { decodeWords(text: string): string }
  export default libmime
}
