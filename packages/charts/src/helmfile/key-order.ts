import { HelmfileError } from './helmfile-error.ts';

/** These come first in a file, wherever its parts begin. */
const early = new Set(['bases', 'environments']);

/**
 * What helmfile asks of the text of a state or a base before it renders it: keys at the start of a line, `bases` and
 * `environments` before `releases`, and between `environments` and `releases` a line of `---`.
 */
export function checkKeyOrder(text: string, file: string): void {
  const fail = (problem: string, hint: string) => {
    throw new HelmfileError('InvalidState', `${file}: ${problem}`, { hint });
  };
  const lines = [...text.matchAll(/^(?:([a-zA-Z]+):|---[^\S\n]*$)/gm)].map(([, key]) => key);
  if (!lines.some((key) => key !== undefined))
    fail(
      isBlank(text) ? 'there is nothing in the state' : 'no key stands at the start of a line',
      isBlank(text)
        ? 'write releases: [] into one without releases'
        : 'write the keys of the state as a block, not in braces',
    );
  let releases = false;
  let last: string | undefined;
  for (const key of lines) {
    if (key === undefined) last = undefined;
    else if (early.has(key) && releases)
      fail(`${key} must be defined before releases`, 'move it up, with a line of --- between it and the releases');
    if (key !== 'environments' && key !== 'releases') continue;
    if (last !== undefined && last !== key)
      fail('environments and releases stand in one part', 'put a line of --- between them');
    releases ||= key === 'releases';
    last = key;
  }
}

function isBlank(text: string): boolean {
  return text.split('\n').every((line) => /^\s*(?:#|$)/.test(line));
}
