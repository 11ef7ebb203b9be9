/** What an image is on this node: files of the machine at paths of the container, and what is started. */
export interface ProcessImage {
  /** Files of the machine by their path in the container, e.g. `{ '/manager': '/home/me/manager' }`. */
  files?: Readonly<Record<string, string>>;
  /** Started when the container names no command. */
  entrypoint?: readonly string[];
  /** Variables every container of the image gets; those of the pod win. */
  env?: Readonly<Record<string, string>>;
}

export type ImageTable = Readonly<Record<string, ProcessImage>>;
