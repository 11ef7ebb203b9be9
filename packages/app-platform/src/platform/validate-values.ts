import { step } from '../operator-error.ts';
import { validateValues as validate } from '../values/validate.ts';
import type { Platform } from './platform.ts';

/** Checks what the files say against the schema of the platform. */
export async function validateValues({ root, layers }: Platform): Promise<void> {
  await step('Values validation failed', async () => validate(await layers.files(), await root.schema()));
}
