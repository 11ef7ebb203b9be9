import { join } from 'node:path';

/** The platform that is used where none is named. */
export const referencePlatform = join(import.meta.dirname, '..', '..', 'platform');

export const directoryArgument = [{ name: 'dir', summary: 'its folder', required: true }] as const;
