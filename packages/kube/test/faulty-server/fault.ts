/** What a request asks for. `stream` is a watch that begins with the present objects. */
export type RequestVerb = 'list' | 'watch' | 'stream';

/** Something the server does wrong with one answer. `after` counts the lines of a watch that are still sent properly. */
export type Fault =
  /** An HTTP error. */
  | {
      readonly type: 'status';
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfter?: number;
      readonly causes?: readonly { readonly reason: string }[];
      /** Instead of a `Status`, as proxies answer. */
      readonly text?: string;
    }
  /** No answer at all. */
  | { readonly type: 'no-answer' }
  /** The connection is reset; without `after` before the answer. */
  | { readonly type: 'reset'; readonly after?: number }
  /** Nothing is sent any more, and nobody says so. */
  | { readonly type: 'half-open'; readonly after: number }
  /** The answer is ended properly. */
  | { readonly type: 'end'; readonly after: number }
  /** An ERROR event in the stream, which then ends. */
  | {
      readonly type: 'error-event';
      readonly after: number;
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfter?: number;
    }
  /** A line that is not an event; the stream goes on. */
  | { readonly type: 'garbage'; readonly after: number; readonly line: string }
  /** Everything is sent in pieces of so many bytes. */
  | { readonly type: 'pieces'; readonly bytes: number }
  /** Everything is sent in pieces, one every so many milliseconds. */
  | { readonly type: 'drip'; readonly bytes: number; readonly everyMs: number }
  /** The bookmark at the end of the present objects is not sent. */
  | { readonly type: 'no-end-marker' }
  /** The body of a LIST ends in the middle. */
  | { readonly type: 'cut-short' };
