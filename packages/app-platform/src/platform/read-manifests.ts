import type { KubeObject } from '@slipway/kube';
import { parseManifests } from '@slipway/manifests';

/** A line that ends a document, whatever is in it. */
const separator = /^---\n/m;

/**
 * Manifests by the text of their documents, as they were read last. Between two applies most teams stay as they are, and reading YAML
 * takes longer than rendering it.
 */
export class ReadManifests {
  #known: ReadonlyMap<string, readonly KubeObject[]> = new Map();

  /** The objects of a text. Nobody changes them: the next one may get the same. */
  read(text: string, source: string): readonly KubeObject[] {
    const lately = new Map<string, readonly KubeObject[]>();
    try {
      for (const document of text.split(separator)) {
        if (!lately.has(document)) lately.set(document, this.#known.get(document) ?? parseManifests(document));
      }
    } catch {
      // The whole text knows in which of its documents and lines the mistake is.
      return parseManifests(text, { source });
    }
    this.#known = lately;
    return text.split(separator).flatMap((document) => lately.get(document)!);
  }
}
