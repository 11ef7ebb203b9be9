import { RepositoryError } from './repository-error.ts';
import { shownAddress } from './shown-address.ts';

/** `oci://host[:port]/path/name[:tag][@sha256:digest]`, taken apart. */
export interface OciReference {
  readonly host: string;
  /** `path/name` */
  readonly repository: string;
  /** As a registry has it: `_` for `+`. Empty when it was left out. */
  readonly tag: string;
  /** `sha256:…`; empty when it was left out. */
  readonly digest: string;
}

const pattern =
  /^oci:\/\/([A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(:\d{1,5})?\/([a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*)(?::([\w][\w.+-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/;

export function isOci(text: string): boolean {
  return text.startsWith('oci://');
}

export function parseOciReference(text: string): OciReference {
  const match = text.length > 1024 ? null : pattern.exec(text);
  if (!match)
    throw new RepositoryError('InvalidReference', `${shownAddress(text)} is no reference to a chart in a registry`, {
      hint: 'write oci://host/path/name, with :version or @sha256:digest behind it if you like',
    });
  const [, host, port = '', repository, tag = '', digest = ''] = match;
  return { host: `${host}${port}`, repository: repository!, tag: tagOf(tag), digest };
}

/** A version as a tag: registries have no `+`. */
export function tagOf(version: string): string {
  return version.replaceAll('+', '_');
}

export function versionOfTag(tag: string): string {
  return tag.replaceAll('_', '+');
}
