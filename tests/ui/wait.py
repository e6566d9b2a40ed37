"""When the page may be read."""


def wait_until_whole(page):
    """Not until the network is idle: a link that was just followed has asked for nothing yet."""
    page.wait_for_function(
        """() => {
            const { address, unanswered } = document.documentElement.dataset
            return address === location.hash && unanswered === "0"
        }"""
    )
