import { expect, test } from 'vitest';

import { RenderedSources, type RenderInput } from './rendered-sources.ts';

const input = (commit: string, more: Partial<RenderInput> = {}): RenderInput => ({
  commit,
  source: { repoURL: 'https://git.example.com/shop.git', path: 'app' },
  release: { name: 'shop', namespace: 'shop' },
  capabilities: { kubeVersion: 'v1.36.0', apiVersions: ['v1'] },
  ...more,
});

function counting() {
  const rendered: string[] = [];
  const render =
    (name: string, characters = 10) =>
    () => {
      rendered.push(name);
      const object = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name },
        data: { text: 'x'.repeat(characters) },
      };
      return Promise.resolve({ type: 'Helm' as const, objects: [object] });
    };
  return { rendered, render };
}

test('the same commit, source, release and capabilities are rendered once; any other is rendered', async () => {
  const sources = new RenderedSources();
  const { rendered, render } = counting();
  const first = await sources.of(input('a'), false, render('a'));
  expect(await sources.of(input('a'), false, render('again'))).toBe(first);
  const helm = { values: 'a: 1' };
  for (const [name, other] of Object.entries({
    commit: input('b'),
    values: input('a', { source: { ...input('a').source, helm } }),
    release: input('a', { release: { name: 'shop', namespace: 'other' } }),
    capabilities: input('a', { capabilities: { kubeVersion: 'v1.37.0' } }),
  }))
    await sources.of(other, false, render(name));
  expect(rendered).toEqual(['a', 'commit', 'values', 'release', 'capabilities']);
  await sources.of(input('a'), true, render('fresh'));
  expect(rendered.at(-1)).toBe('fresh');
});

test('what fails is not kept', async () => {
  const sources = new RenderedSources();
  const { rendered, render } = counting();
  await expect(sources.of(input('a'), false, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await sources.of(input('a'), false, render('a'));
  expect(rendered).toEqual(['a']);
});

test('it never holds more than its size: whoever was not asked for longest goes', async () => {
  const sources = new RenderedSources(3000);
  const { rendered, render } = counting();
  for (const name of ['a', 'b', 'c', 'a', 'd']) await sources.of(input(name), false, render(name, 900));
  for (const name of ['a', 'b']) await sources.of(input(name), false, render(name, 900));
  expect(rendered).toEqual(['a', 'b', 'c', 'd', 'b']);
  await sources.of(input('large'), false, render('large', 100_000));
  expect(sources.size).toBeLessThanOrEqual(3000);
});
