// Runs in a page: gives the texts that stand out too little from what is behind them, words that are broken, and what is wider than the window.
;(async () => {
  // A change of width or colours takes a frame to be drawn, and then some colours go over slowly.
  await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))
  for (const animation of document.getAnimations())
    if (animation.effect.getComputedTiming().iterations !== Infinity) animation.finish()

  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })

  /** Red, green, blue and opacity of any CSS colour. */
  const channels = colour => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = colour
    canvas.fillRect(0, 0, 1, 1)
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data
    return [red, green, blue, alpha / 255]
  }

  const over = ([r, g, b, alpha], below) =>
    [r, g, b].map((channel, index) => channel * alpha + below[index] * (1 - alpha))

  const paper = matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18] : [255, 255, 255]

  /** What is behind an element: the backgrounds of all that hold it, one over the other. */
  const behind = element => {
    const below = element.parentElement ? behind(element.parentElement) : paper
    return over(channels(getComputedStyle(element).backgroundColor), below)
  }

  // WCAG 2.2, "relative luminance" and "contrast ratio".
  const luminance = rgb => {
    const [red, green, blue] = rgb.map(channel => {
      const part = channel / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b)
    return (light + 0.05) / (dark + 0.05)
  }

  const opacityOf = element =>
    Number(getComputedStyle(element).opacity) *
    (element.parentElement ? opacityOf(element.parentElement) : 1)

  const isShown = element =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
    element.getClientRects().length > 0

  const faults = []
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const element = node.parentElement
    const text = node.textContent.trim()
    if (text === '' || /^(SCRIPT|STYLE|OPTION)$/.test(element.tagName) || !isShown(element))
      continue
    const style = getComputedStyle(element)
    const back = behind(element)
    const [red, green, blue, alpha] = channels(style.color)
    const ratio = contrast(over([red, green, blue, alpha * opacityOf(element)], back), back)
    const size = Number.parseFloat(style.fontSize)
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
    if (ratio < (isLarge ? 3 : 4.5))
      faults.push(
        `contrast ${ratio.toFixed(2)}: “${text.slice(0, 40)}” in ${element.tagName.toLowerCase()}.${element.className}, ${style.color} on ${back.map(Math.round)}`,
      )
  }
  // Swagger UI and GraphiQL break what they edit where they like.
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  for (let node = words.nextNode(); node; node = words.nextNode()) {
    if (!isShown(node.parentElement) || node.parentElement.closest('.CodeMirror, textarea'))
      continue
    for (const { index, 0: word } of node.textContent.matchAll(/[\p{L}\p{N}_]+/gu)) {
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
      if (lines.size > 1) faults.push(`the word “${word}” is broken`)
    }
  }
  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth > clientWidth)
    faults.push(`the page is ${scrollWidth} wide in a window of ${clientWidth}`)
  return [...new Set(faults)]
})()
