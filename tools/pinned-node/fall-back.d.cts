export function fallBack(
  bin: string,
  facts: { readonly node: string; readonly machine: string; readonly needed: string },
): string | undefined;
