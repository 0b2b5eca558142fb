import { expect, it } from "vitest"

import { howToFetch } from "./doctor.ts"

it.each([
  ["docker: Error response from daemon: No such image: debian:stable-slim.", "debian:stable-slim"],
  ["Error: quay.io/team/tools: image not known: quay.io/team/tools", "quay.io/team/tools"]
])("doctor names the image that an engine lacks: %s", (reason, image) => {
  expect(howToFetch(reason)).toBe(`Fetch its image: docker pull ${image}, or podman pull ${image}.`)
})

it("doctor names no image where an engine has another problem", () => {
  expect(howToFetch("Cannot connect to the Docker daemon")).toBeUndefined()
})
