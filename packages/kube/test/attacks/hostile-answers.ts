import type { Random } from '../../src/random.ts';
import type { TransportResponse } from '../../src/transport.ts';

/** Makes up answers that no API server would give, from a seed: wrong shapes, torn JSON, odd headers, deep and long values. */
export class HostileAnswers {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  pick<T>(...choices: readonly T[]): T {
    return choices[Math.floor(this.#random.next() * choices.length)]!;
  }

  response(): TransportResponse {
    return { status: this.status(), headers: this.headers(), body: this.body() };
  }

  status(): number {
    return this.pick(
      200,
      200,
      200,
      200,
      201,
      204,
      206,
      301,
      400,
      401,
      403,
      404,
      409,
      410,
      422,
      429,
      500,
      503,
      504,
      599,
    );
  }

  headers(): Record<string, string | string[]> {
    const headers: Record<string, string | string[]> = {};
    const odd = () =>
      this.pick('', '0', '-1', '1e9', '99999999999999999999', 'NaN', 'soon', '1', 'Wed, 21 Oct 2026 07:28:00 GMT');
    if (this.#chance(0.3)) headers['retry-after'] = this.pick<string | string[]>(odd(), [odd(), odd()]);
    if (this.#chance(0.2))
      headers['warning'] = this.pick<string | string[]>(
        '299 - "x',
        '299 - "a\\"b", 299 - "c"',
        ['', '299'],
        '"'.repeat(500),
      );
    if (this.#chance(0.2)) headers['content-type'] = this.pick('text/html', '', 'application/vnd.kubernetes.protobuf');
    return headers;
  }

  body(): Buffer {
    const text = this.pick(
      () => '',
      () => '<html>502 Bad Gateway</html>',
      () => 'null',
      () => '"text"',
      () => '[]',
      () => this.pick('{', '{"a":', '{"metadata":{"name":"a"', '\u0000', '﻿{}'),
      () => this.#torn(JSON.stringify(this.object())),
      () => JSON.stringify(this.object()),
      () => JSON.stringify(this.object()),
      () => JSON.stringify(this.list()),
      () => JSON.stringify(this.refusal()),
      () => JSON.stringify(this.value(4)),
      () => `${'['.repeat(5000)}${']'.repeat(5000)}`,
      () => `{"metadata":{"name":"a","labels":${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}}}`,
      () => `{"a":${'9'.repeat(400)},"b":-${'9'.repeat(20)},"c":1e999}`,
    )();
    const bytes = Buffer.from(text);
    // Bytes that are no UTF-8, anywhere.
    if (this.#chance(0.05) && bytes.length > 0)
      bytes[Math.floor(this.#random.next() * bytes.length)] = this.pick(0xff, 0x00, 0xc3);
    return bytes;
  }

  /** An object as the server might send it, with one part or another being something else. */
  object(): Record<string, unknown> {
    return this.#spoil({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: this.#spoil({
        namespace: 'default',
        name: 'a',
        uid: 'u',
        resourceVersion: this.pick('7', '', '00', 'x', '-1', '9'.repeat(30)),
        generation: 1,
        labels: { a: 'b' },
        finalizers: ['example.com/a'],
        deletionTimestamp: '2026-01-01T00:00:00Z',
      }),
      data: { a: 'b' },
    });
  }

  list(): Record<string, unknown> {
    return this.#spoil({
      apiVersion: 'v1',
      kind: 'ConfigMapList',
      metadata: this.#spoil({ resourceVersion: '7', continue: this.pick('', 'again', 'again', 'other') }),
      items: this.pick<unknown>([this.object()], [this.object(), null, 3], [], null, {}, 'items', [[[]]]),
    });
  }

  refusal(): Record<string, unknown> {
    const details = this.#spoil({
      name: 'a',
      causes: [{ reason: 'x' }, null, 7],
      retryAfterSeconds: this.pick<unknown>(0, -5, 1e12, '1', null),
    });
    return this.#spoil({
      kind: 'Status',
      status: 'Failure',
      code: this.pick<unknown>(409, '410', -1, 2 ** 60),
      reason: 'Conflict',
      message: 'no',
      details,
      metadata: {},
    });
  }

  /** A line of a watch. */
  line(): string {
    return this.pick(
      () =>
        `{"type":"${this.pick('ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR', 'NONSENSE', '')}","object":${JSON.stringify(this.value(3))}}`,
      () =>
        `{"type":"${this.pick('ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK')}","object":${JSON.stringify(this.object())}}`,
      () => `{"type":"ERROR","object":${JSON.stringify(this.refusal())}}`,
      () => this.#torn(`{"type":"ADDED","object":${JSON.stringify(this.object())}}`),
      () => JSON.stringify(this.value(3)),
      () => this.body().toString('latin1').replaceAll('\n', ' '),
    )();
  }

  value(depth: number): unknown {
    const leaf = () =>
      this.pick<unknown>(null, true, false, 0, -1, 1e300, '', 'a', '__proto__', 'x'.repeat(300), [], {});
    if (depth === 0 || this.#chance(0.3)) return leaf();
    const inner = () => this.value(depth - 1);
    if (this.#chance(0.3)) return [inner(), inner()];
    const fields: [string, unknown][] = [];
    for (let count = Math.floor(this.#random.next() * 5); count > 0; count -= 1) fields.push([this.#name(), inner()]);
    return Object.fromEntries(fields);
  }

  #name(): string {
    return this.pick(
      'metadata',
      'items',
      'kind',
      'apiVersion',
      'status',
      'details',
      'code',
      'reason',
      'name',
      'continue',
      'resourceVersion',
      'resources',
      'groups',
      'versions',
      'toString',
      'rawJSON',
    );
  }

  #spoil(fields: Record<string, unknown>): Record<string, unknown> {
    const spoiled = { ...fields };
    for (const name of Object.keys(fields)) {
      if (this.#chance(0.08)) spoiled[name] = this.value(2);
      if (this.#chance(0.04)) delete spoiled[name];
    }
    return spoiled;
  }

  #torn(text: string): string {
    return text.slice(0, Math.floor(this.#random.next() * text.length));
  }

  #chance(part: number): boolean {
    return this.#random.next() < part;
  }
}
