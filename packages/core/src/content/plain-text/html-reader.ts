import type { TokenizerCallbacks } from 'htmlparser2'

/** Reads HTML as the tokenizer reports it. What a reader does not need is ignored. */
export abstract class HtmlReader implements TokenizerCallbacks {
  onattribdata(_start: number, _end: number): void {}
  onattribend(..._at: unknown[]): void {}
  onattribentity(_codepoint: number): void {}
  onattribname(_start: number, _end: number): void {}
  oncdata(): void {}
  onclosetag(_start: number, _end: number): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onend(): void {}
  onopentagend(_end: number): void {}
  onopentagname(_start: number, _end: number): void {}
  onprocessinginstruction(): void {}
  onselfclosingtag(_end: number): void {}
  ontext(_start: number, _end: number): void {}
  ontextentity(): void {}
  isInForeignContext(): boolean {
    return false
  }
}
