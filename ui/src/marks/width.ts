// How wide a picture is on the page: what is drawn for that width has letters of their own size.

import { useLayoutEffect, useRef, useState } from 'preact/hooks'

export function useWidth(): [{ current: SVGSVGElement | null }, number] {
  const element = useRef<SVGSVGElement>(null)
  const [width, setWidth] = useState(600)
  useLayoutEffect(() => {
    const box = element.current!
    const observer = new ResizeObserver(() => setWidth(box.clientWidth))
    observer.observe(box)
    setWidth(box.clientWidth)
    return () => observer.disconnect()
  }, [])
  return [element, width]
}
