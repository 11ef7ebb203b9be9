import { expect, test } from 'vitest';

import { stepPlatform } from '../../test/step-kit.ts';
import { writeValues } from './write-values.ts';

test('writeValues(): what is secret by the schema, or by the file it is in, is in no plain file', async () => {
  await using step = await stepPlatform({
    files: {
      'env/apps/console.yaml': 'kind: AplApp\nspec: {replicas: 2, cookieSecret: by-schema}\n',
      'env/apps/secrets.console.yaml': 'kind: AplApp\nspec: {banner: by-file}\n',
    },
  });
  const { platform } = step;
  await writeValues(platform, await platform.layers.values('defaults'));
  const { 'env/apps/console.yaml': plain, 'env/apps/secrets.console.yaml': secret } = await step.files();
  expect(plain).toContain('replicas: 2');
  expect(plain).not.toMatch(/by-schema|by-file/);
  expect(secret).toMatch(/by-schema/);
  expect(secret).toMatch(/by-file/);
});
