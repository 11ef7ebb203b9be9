export interface SecretObject {
  metadata: { name: string; namespace: string };
  data?: Record<string, string>;
}

export interface ConfigMapObject {
  metadata: { name: string; namespace: string };
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}

/** What of a pod's namespace its containers may name. An object that is not there is `undefined`. */
export interface PodObjects {
  secret(name: string): Promise<SecretObject | undefined>;
  configMap(name: string): Promise<ConfigMapObject | undefined>;
}

/** The pod names something that is not there (yet): its containers wait, and the reason says why. */
export class MissingReference extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MissingReference';
  }
}

type ContentsOf<T> = (objects: PodObjects, name: string, optional?: boolean) => Promise<T>;

/** The decoded entries of a Secret; none, where an optional one is not there. */
export const secretContents: ContentsOf<ReadonlyMap<string, Buffer>> = async (objects, name, optional) => {
  const secret = await objects.secret(name);
  if (!secret && !optional) throw new MissingReference(`secret "${name}" not found`);
  return new Map(Object.entries(secret?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64')]));
};

/** The entries of a ConfigMap, text and binary; none, where an optional one is not there. */
export const configMapContents: ContentsOf<ReadonlyMap<string, Buffer>> = async (objects, name, optional) => {
  const configMap = await objects.configMap(name);
  if (!configMap && !optional) throw new MissingReference(`configmap "${name}" not found`);
  return new Map([
    ...Object.entries(configMap?.data ?? {}).map(([key, value]) => [key, Buffer.from(value)] as const),
    ...Object.entries(configMap?.binaryData ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const),
  ]);
};
